"""Messages to clients, and what becomes of them (contract: Message; Messages)."""
