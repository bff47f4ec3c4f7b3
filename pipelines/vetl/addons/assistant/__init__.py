"""A server (MCP) that answers assistants by metric; the SDK comes with the extra `assistant`."""

from vetl.hooks import Commands, Sections, addon


@addon
def settings_sections() -> Sections:
    """Return the section."""
    from vetl.addons.assistant.settings import AssistantSettings

    return {"assistant": AssistantSettings}


@addon
def commands() -> Commands:
    """Return the command."""
    return {"Tools": {"mcp": ("vetl.addons.assistant.command", "Serve the metrics to an assistant (MCP).")}}
