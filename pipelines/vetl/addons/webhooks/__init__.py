"""Receiving the platform's webhooks: an HTTP server that keeps each delivery in the inbox."""

from vetl.hooks import command_in, sections_in

settings_sections = sections_in("vetl.addons.webhooks.settings", webhooks="ReceiverSettings")
"""The keys of the receiver; the inbox, which `vetl run` drains, is a key of the core."""
commands = command_in("vetl.addons.webhooks.command", "Operate", "webhooks", "Receive the platform's webhooks.")
