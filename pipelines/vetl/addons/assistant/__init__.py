"""A server (MCP) that answers assistants by metric; the SDK comes with the extra `assistant`."""

from vetl.hooks import command_in, sections_in

settings_sections = sections_in("vetl.addons.assistant.settings", assistant="AssistantSettings")
commands = command_in("vetl.addons.assistant.command", "Tools", "mcp", "Serve the metrics to an assistant (MCP).")
