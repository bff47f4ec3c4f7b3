"""The kinds of acts. Each is a declaration in a module of its own."""

from vetl.acting.call_back import CALL_BACK
from vetl.acting.kind import ActKind
from vetl.acting.text import TEXT

KINDS: dict[str, ActKind] = {kind.name: kind for kind in (CALL_BACK, TEXT)}


def is_message(kind: str) -> bool:
    """Return whether acts of this kind are messages, and not staff tasks."""
    return KINDS[kind].task_type is None
