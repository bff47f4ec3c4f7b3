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


def leave(clinic: Clinic, name: str, count: int) -> list[dict[str, Any]]:
    """Remove all but so many rows; return the removed rows."""
    rows = clinic.platform.truth(PRACTICE, name)
    for row in rows[count:]:
        clinic.platform.delete(PRACTICE, name, str(row["id"]))
    return [dict(row) for row in rows[count:]]


@pytest.mark.parametrize(("count", "unknown"), [(0, "refused"), (1, "ignored")])
@pytest.mark.parametrize("name", NAMES_OF_ITS_OWN)
def test_names_that_were_unknown_at_first_are_found_when_there_are_rows(
    clinic: Clinic, name: str, count: int, unknown: str
) -> None:
    taken = leave(clinic, name, count)
    clinic.platform.set(unknown_parameters=unknown, **{name: NAMES_OF_ITS_OWN[name]})
    for _ in range(2):
        assert clinic.sync(name).exit_code == 0
    assert clinic.differences(name) == []

    changed = {"updated_at": clinic.platform.now().isoformat()} if name != "ai_outbound" else {}
    for row in taken:
        clinic.platform.insert(PRACTICE, name, {**row, **changed})
    clinic.platform.advance(timedelta(minutes=30))

    result = clinic.sync(name)
    assert result.exit_code == 0, result
    assert clinic.differences(name) == []

    clinic.platform.requests.clear()
    assert clinic.sync(name).results[0].state == "certified"
    asked = {key for seen in clinic.platform.requests.log for key, _ in parse_qsl(seen.query)}
    own = {value for key, value in NAMES_OF_ITS_OWN[name].items() if key in ("start", "end", "page", "per_page")}
    configured = {"start_date", "end_date", "status", "page", "per_page"} & set(NAMES_OF_ITS_OWN[name])
    assert own <= asked
    assert not configured & asked


@pytest.mark.parametrize(("name", "most"), [("staff_tasks", 8), ("booking_sessions", 10)])
def test_the_cost_of_an_empty_list_at_each_sync_is_bounded(clinic: Clinic, name: str, most: int) -> None:
    leave(clinic, name, 0)
    clinic.sync(name)

    assert clinic.sync(name).results[0].requests <= most


def test_the_cost_of_a_withdrawn_list_at_each_sync_is_bounded(clinic: Clinic) -> None:
    clinic.platform.set(appointments_withdrawn=404)
    clinic.sync("appointments")

    assert clinic.sync("appointments").results[0].requests <= 3
