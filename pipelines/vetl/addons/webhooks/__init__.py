"""Receiving the platform's webhooks: an HTTP server that keeps each delivery in the inbox."""

from vetl.hooks import Commands, Sections, addon


@addon
def settings_sections() -> Sections:
    """Return the keys of the receiver; the inbox, which `vetl run` drains, is a key of the core."""
    from vetl.addons.webhooks.settings import ReceiverSettings

    return {"webhooks": ReceiverSettings}


@addon
def commands() -> Commands:
    """Return the command."""
    return {"Operate": {"webhooks": ("vetl.addons.webhooks.command", "Receive the platform's webhooks.")}}
