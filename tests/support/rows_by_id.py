"""The rows of an answer by their ids."""

import re
from typing import Final

from support.partner_side import Row

ISO: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def by_id(rows: list[Row]) -> dict[str, Row]:
    """Return rows by their ids, and fail if an id occurs twice."""
    indexed = {row["id"]: row for row in rows}
    assert len(indexed) == len(rows)
    return indexed
