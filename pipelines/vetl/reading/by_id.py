"""Get rows by their ids, one request per row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from vetl.core.errors import VetlError
from vetl.core.pages import Row
from vetl.core.steps import Flush, GetRecords, MergeRows, MissingRecords, Plan, do


@dataclass(frozen=True, slots=True)
class Got:
    """The result of requests by id; `strangers` are ids whose answer was a row with another id, not stored."""

    strangers: Sequence[str] = ()
    requests: int = 0


def get_by_id(ids: Sequence[str], read_at: datetime, *, looks: int = 1) -> Plan[Got]:
    """Get rows by id and merge them; store an id as missing if the source lacks it in `looks` requests.

    Raises:
        VetlError: a few ids could not be read; all other rows are stored.
    """
    answers = yield from do(GetRecords(ids))
    requests = len(answers)
    for _ in range(looks - 1):
        again = [identity for identity, row in answers.items() if row is None]
        answers |= yield from do(GetRecords(again))
        requests += len(again)
    failed = [row for row in answers.values() if isinstance(row, VetlError)]
    rows = {identity: row for identity, row in answers.items() if isinstance(row, Mapping)}
    strangers = [identity for identity, row in rows.items() if _is_another(row, identity)]
    yield MergeRows([row for identity, row in rows.items() if identity not in strangers], read_at)
    missing = [identity for identity, row in answers.items() if row is None]
    if missing:
        yield MissingRecords(missing, read_at)
    if failed:
        yield Flush()
        failed[0].add_note(f"; {len(failed)} of {len(ids)} ids could not be read, the others are stored")
        raise failed[0]
    return Got(strangers, requests)


def _is_another(row: Row, identity: str) -> bool:
    """Return whether a row has another id. A row without an id goes on to its model, which quarantines it."""
    return row.get("id") is not None and str(row["id"]) != identity


def strangers_line(name: str, strangers: Sequence[str], requested: int) -> str:
    """Return the line about ids whose answers were rows with other ids."""
    return f"{name}: {len(strangers)} of {requested} rows came back under another id than the requested one"
