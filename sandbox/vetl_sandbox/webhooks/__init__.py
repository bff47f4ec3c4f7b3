"""The webhooks that the platform sends (contract: Events)."""
