"""Get rows by their ids, one request per row."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pipelines.core.pages import Row
from pipelines.core.steps import GetRecords, MergeRows, MissingRecords, Plan, do


@dataclass(frozen=True, slots=True)
class Got:
    """The result of requests by id; `strangers` are ids whose answer was a row with another id, not stored."""

    strangers: Sequence[str] = ()
    requests: int = 0


def get_by_id(ids: Sequence[str], read_at: datetime, *, looks: int = 1) -> Plan[Got]:
    """Get rows by id and merge them; store an id as missing if the source lacks it in `looks` requests."""
    left, strangers, requests = list(ids), list[str](), 0
    while left:
        answers = yield from do(GetRecords(left))
        left = [identity for identity in left if identity not in answers]
        requests += len(answers)
        for _ in range(looks - 1):
            again = [identity for identity, row in answers.items() if row is None]
            answers |= yield from do(GetRecords(again))
            requests += len(again)
        others = {identity for identity, row in answers.items() if row is not None and _is_another(row, identity)}
        strangers += others
        yield MergeRows(
            [row for identity, row in answers.items() if row is not None and identity not in others], read_at
        )
        missing = [identity for identity, row in answers.items() if row is None]
        if missing:
            yield MissingRecords(missing, read_at)
    return Got(strangers, requests)


def _is_another(row: Row, identity: str) -> bool:
    """Return whether a row has another id. A row without an id goes on to its model, which quarantines it."""
    return row.get("id") is not None and str(row["id"]) != identity


def strangers_line(name: str, strangers: Sequence[str], requested: int) -> str:
    """Return the line about ids whose answers were rows with other ids."""
    return f"{name}: {len(strangers)} of {requested} rows came back under another id than the requested one"
