"""The kinds of acts. Each is a declaration in a module of its own."""

from pipelines.acting.call_back import CALL_BACK
from pipelines.acting.kind import ActKind
from pipelines.acting.text import TEXT

KINDS: dict[str, ActKind] = {kind.name: kind for kind in (CALL_BACK, TEXT)}


def is_message(kind: str) -> bool:
    """Return whether acts of this kind are messages, and not staff tasks."""
    return KINDS[kind].task_type is None
