"""Pass rows between polars and DuckDB.

This module imports no other module: polars keeps a reference to the type of every object that it was given, and
through it to the globals of that type's module. If DuckDB is among them, it prints a warning when the process
ends.
"""

from typing import Protocol


class Rows(Protocol):
    """A polars frame, or a DuckDB relation."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as an Arrow stream."""
        ...


class ArrowStream:
    """Rows as an Arrow stream only: DuckDB reads them in place, but copies a registered frame."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the stream (Arrow PyCapsule interface)."""
        return self._rows.__arrow_c_stream__(requested_schema)
