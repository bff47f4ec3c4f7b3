"""Rows on their way between polars and DuckDB.

No other module is imported here: polars remembers the type of what it was given for ever, and with it all that its
module names. DuckDB among them would complain of it when the process ends.
"""

from typing import Protocol


class Rows(Protocol):
    """A polars frame, or DuckDB's answer to a question."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as an Arrow stream."""
        ...


class ArrowStream:
    """Rows as an Arrow stream and nothing else. They are read where they lie; a registered frame is copied."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """As the Arrow PyCapsule interface has it."""
        return self._rows.__arrow_c_stream__(requested_schema)
