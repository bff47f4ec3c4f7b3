"""Pass rows between polars and DuckDB.

This module imports no other module: polars keeps a reference to the type of every object that it was given, and
through it to the globals of that type's module. If DuckDB is among them, it prints a warning when the process
ends.
"""

from typing import Any


class ArrowStream:
    """Rows of a frame or a relation as an Arrow stream only: DuckDB reads them in place, but copies a frame."""

    def __init__(self, rows: Any) -> None:  # noqa: ANN401 - a polars frame or a DuckDB relation
        self._rows = rows

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the stream (Arrow PyCapsule interface)."""
        return self._rows.__arrow_c_stream__(requested_schema)
