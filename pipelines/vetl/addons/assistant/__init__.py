"""A server (MCP) that answers assistants by metric; the SDK comes with the extra `assistant`."""

from typing import TYPE_CHECKING

from vetl.hooks import addon

if TYPE_CHECKING:
    from vetl.hooks import Commands, Sections


@addon
def settings_sections() -> "Sections":
    """Return the section."""
    from vetl.addons.assistant.settings import AssistantSettings

    return {"assistant": AssistantSettings}


@addon
def commands() -> "Commands":
    """Return the command."""
    return {"Tools": {"mcp": ("vetl.addons.assistant.command", "Serve the metrics to an assistant (MCP).")}}
