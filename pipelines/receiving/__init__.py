"""The webhook receiver: HTTP in `app`, a durable spool in `inbox`, from there into raw in `drain`."""
