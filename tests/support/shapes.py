"""What answers look like, and sandboxes whose answers do not."""

import re
from typing import Final

from support.breaking import Break, edited
from support.partner_side import Row

ISO: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")

_ANOTHER_END = '__import__("datetime").date(2026, 1, 1) or query.bound(switches.end'
ENDS_EARLIER: Final = edited("server.lists:_chosen", "query.bound(switches.end", _ANOTHER_END)
"""A range ends where it is not told to."""


def without(field: str) -> Break:
    """Records of the lists lack a field."""
    return edited(
        "resources.resource:Resource.records",
        ".select(self.fields)",
        f".select(f for f in self.fields if f != {field!r})",
    )


def by_id(rows: list[Row]) -> dict[str, Row]:
    """Rows by their ids, each of which there is once."""
    known = {row["id"]: row for row in rows}
    assert len(known) == len(rows)
    return known
