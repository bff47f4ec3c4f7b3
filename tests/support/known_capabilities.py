"""The knowledge that a sync is given about a list, as `control.capabilities` keeps it."""

from typing import Any

from pipelines.core.capabilities import Parameter, Result


def paged(base: int = 0, size: int = 4, name: str = "page") -> dict[str, Any]:
    """Return pages from `base` on, of at most `size` rows, under this name of the page number."""
    number = Parameter(name=name, configured="page", result=Result.HONOURED, base=base)
    rows = Parameter(name="per_page", configured="per_page", result=Result.HONOURED, size=size)
    return {"page": number.model_dump(mode="json"), "per_page": rows.model_dump(mode="json")}


def ranged() -> dict[str, Any]:
    """Return a date range that works, to the second, under the default names."""
    start = Parameter(name="start_date", configured="start_date", result=Result.HONOURED, bounds="instant")
    end = Parameter(name="end_date", configured="end_date", result=Result.HONOURED)
    return {"start": start.model_dump(mode="json"), "end": end.model_dump(mode="json")}
