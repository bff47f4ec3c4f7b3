"""A list that was empty or tiny at the first sync proves nothing; it is checked again when it has grown."""

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl

import pytest
from support.platform_and_settings import PRACTICE, Clinic

NAMES_OF_ITS_OWN: dict[str, dict[str, Any]] = {
    "staff_tasks": {"status": "state", "page": "p", "per_page": "limit", "page_base": 1},
    "ai_outbound": {"status": "by_status", "page": "pageNumber"},
    "booking_sessions": {
        "start": "updated_since",
        "end": "until",
        "status": "filter[status]",
        "page": "page_number",
        "page_base": 1,
        "start_required": False,
    },
    "appointments": {"start": "from", "end": "to", "per_page": "size", "start_required": False},
}


USUAL = {"start": "start_date", "end": "end_date", "status": "status", "page": "page", "per_page": "per_page"}


def leave(clinic: Clinic, name: str, count: int) -> list[dict[str, Any]]:
    """Remove all but so many rows; return the removed rows."""
    rows = clinic.platform.truth(PRACTICE, name)
    for row in rows[count:]:
        clinic.platform.delete(PRACTICE, name, str(row["id"]))
    return [dict(row) for row in rows[count:]]


@pytest.mark.parametrize(("count", "unknown"), [(0, "refused"), (1, "ignored")])
def test_names_that_were_unknown_at_first_are_found_when_there_are_rows(
    clinic: Clinic, count: int, unknown: str
) -> None:
    lists = tuple(NAMES_OF_ITS_OWN)
    taken = {name: leave(clinic, name, count) for name in lists}
    clinic.platform.set(unknown_parameters=unknown, **NAMES_OF_ITS_OWN)
    for _ in range(2):
        assert clinic.sync(*lists).exit_code == 0
    assert clinic.differences(*lists) == []

    for name, rows in taken.items():
        changed = {"updated_at": clinic.platform.now().isoformat()} if name != "ai_outbound" else {}
        for row in rows:
            clinic.platform.insert(PRACTICE, name, {**row, **changed})
    clinic.platform.advance(timedelta(minutes=30))

    result = clinic.sync(*lists)
    assert result.exit_code == 0, result
    assert clinic.differences(*lists) == []

    clinic.platform.requests.clear()
    assert {read.state for read in clinic.sync(*lists).results} == {"certified"}
    for name, names in NAMES_OF_ITS_OWN.items():
        seen = [seen.query for seen in clinic.platform.requests.log if f"/{name}" in seen.path]
        asked = {key for query in seen for key, _ in parse_qsl(query)}
        own = {value for key, value in names.items() if key in ("start", "end", "page", "per_page")}
        assert own <= asked, name
        assert not {USUAL[key] for key in names if key in USUAL} & asked, name


@pytest.mark.parametrize(("name", "most"), [("staff_tasks", 8), ("booking_sessions", 10)])
def test_the_cost_of_an_empty_list_at_each_sync_is_bounded(clinic: Clinic, name: str, most: int) -> None:
    leave(clinic, name, 0)
    clinic.sync(name)

    assert clinic.sync(name).results[0].requests <= most


def test_the_cost_of_a_withdrawn_list_at_each_sync_is_bounded(clinic: Clinic) -> None:
    clinic.platform.set(appointments_withdrawn=404)
    clinic.sync("appointments")

    assert clinic.sync("appointments").results[0].requests <= 3
