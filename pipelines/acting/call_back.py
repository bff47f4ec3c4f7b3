"""Calling back somebody who wanted an appointment and has none: a wish of the leak list."""

from pipelines.acting.kind import ActKind

CALL_BACK = ActKind(name="call_back")
