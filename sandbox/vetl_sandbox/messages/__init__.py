"""Messages to clients and their statuses (contract: Message; Messages)."""
