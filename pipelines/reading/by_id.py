"""Rows that are got one by one, by their ids."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pipelines.core.pages import Row
from pipelines.core.steps import GetRecords, MergeRows, MissingRecords, Plan, do


@dataclass(frozen=True, slots=True)
class Got:
    """`strangers`: ids that were answered with a row of another id; those rows are not taken in."""

    strangers: Sequence[str] = ()
    requests: int = 0


def get_by_id(ids: Sequence[str], read_at: datetime, *, looks: int = 1) -> Plan[Got]:
    """Get rows one by one and merge them; remember those that the source does not have, after so many looks."""
    if not ids:
        return Got()
    answers = yield from do(GetRecords(ids))
    requests = len(ids)
    for _ in range(looks - 1):
        again = [identity for identity, row in answers.items() if row is None]
        answers |= yield from do(GetRecords(again))
        requests += len(again)
    strangers = [identity for identity, row in answers.items() if row is not None and _is_another(row, identity)]
    yield MergeRows(
        [row for identity, row in answers.items() if row is not None and identity not in strangers], read_at
    )
    missing = [identity for identity, row in answers.items() if row is None]
    if missing:
        yield MissingRecords(missing, read_at)
    return Got(strangers, requests)


def _is_another(row: Row, identity: str) -> bool:
    """A row without an id is left to its model, which sets it aside."""
    return row.get("id") is not None and str(row["id"]) != identity


def strange(name: str, strangers: Sequence[str], asked: int) -> str:
    """What is said of ids that were answered with rows of other ids."""
    return f"{name}: {len(strangers)} of {asked} rows came back under another id than they were asked for by"
