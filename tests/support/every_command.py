"""Every command of `vetl`, imported."""

from typing import Any

from typer.main import get_command
from vetl.cli.app import app


def every_command() -> dict[str, Any]:
    """Return every command by its words, those of groups as `sandbox serve`."""
    root: Any = get_command(app)
    words: dict[str, Any] = {}
    for name, command in root.commands.items():
        inner = getattr(command, "commands", None)
        words |= {f"{name} {child}": one for child, one in inner.items()} if inner else {name: command}
    return words
