"""Texting somebody who wanted an appointment and has none. Contract: Create a message, Sending hours.

The interface makes it safe to repeat: a `reference_id` that was sent before returns its message. A text may keep
the platform's own outreach from this client for 72 hours, so each practice has to opt in.
"""

from vetl.acting.kind import ActKind

TEXT = ActKind(name="text", task_type=None, hours=(8, 21))
