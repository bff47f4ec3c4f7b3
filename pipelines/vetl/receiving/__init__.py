"""The webhook receiver: HTTP in `app`, a durable queue in `inbox`, and then `into_warehouse`."""
