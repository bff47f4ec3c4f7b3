"""The webhook receiver: HTTP in `app`, a durable queue in `inbox`, the way into the warehouse in `drain`."""
