"""The kinds of acts. Each is a declaration in a module of its own."""

from pipelines.acting.call_back import CALL_BACK
from pipelines.acting.kind import ActKind

KINDS: dict[str, ActKind] = {kind.name: kind for kind in (CALL_BACK,)}
