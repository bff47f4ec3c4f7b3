"""Calling back somebody who wanted an appointment and has none: a booking request of the call-back list."""

from vetl.acting.kind import ActKind

CALL_BACK = ActKind(name="call_back")
