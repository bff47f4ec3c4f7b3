"""A user who does not know doctor: the first sync makes the essential checks by itself.

A list that was empty or tiny then proves nothing; it is checked again when it has grown. Servers may have other
parameter names and values than the sandbox.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl

import pytest
from support.lying_proxy import lying
from support.platform_and_settings import PRACTICE, Clinic, findings_by_check

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


def test_a_list_that_cannot_be_paged_is_refused_in_one_line_until_doctor_finds_it_mended(clinic: Clinic) -> None:
    clinic.platform.set(staff_tasks={"page": "sheet"})

    for _ in range(2):
        result = clinic.sync("staff_tasks")
        [refused] = result.results
        assert (result.exit_code, refused.state, refused.rows) == (1, "failed", 0)
        assert "every page repeats the first" in refused.reason

    report = clinic.doctor("staff_tasks", write=True)
    finding = findings_by_check(report)["staff_tasks", "page"]
    assert (report.exit_code, finding.state, finding.found) == (3, "contradicts", "none")

    clinic.platform.set(staff_tasks={"page": "page"})
    assert clinic.doctor("staff_tasks").exit_code == 0
    assert clinic.sync("staff_tasks").exit_code == 0
    assert clinic.differences("staff_tasks") == []


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


@pytest.mark.parametrize(("name", "most"), [("staff_tasks", 8), ("booking_sessions", 10), ("appointments", 4)])
def test_the_cost_of_an_empty_or_withdrawn_list_is_bounded(clinic: Clinic, name: str, most: int) -> None:
    clinic.platform.set(appointments_withdrawn=404)
    leave(clinic, name, 0)
    clinic.sync(name)

    assert clinic.sync(name).results[0].requests <= most


Words = Callable[[str, dict[str, Any]], None]


def numbers_as_text(_path: str, page: dict[str, Any]) -> None:
    for name in ("page", "per_page", "total_pages", "total_count"):
        if name in page:
            page[name] = str(page[name])


def the_total_alone(_path: str, page: dict[str, Any]) -> None:
    for name in ("page", "per_page", "total_pages"):
        page.pop(name, None)
    page["links"] = {"next": "/somewhere"}


def null_for_an_empty_list(_path: str, page: dict[str, Any]) -> None:
    if not page["total_count"]:
        page["content"] = None


def pages_as_people_count(_path: str, page: dict[str, Any]) -> None:
    """Echo pages that count from 1, and the number of rows as the size."""
    page["page"] = page.get("page", 0) + 1
    page["per_page"] = len(page["content"])


def times_without_offset_and_ids_as_numbers(_path: str, page: dict[str, Any]) -> None:
    for row in page["content"]:
        for name, value in row.items():
            if name.endswith("_at") and value:
                row[name] = value.removesuffix("Z").replace("-", "").replace(":", "").replace(".", ",")
            elif name == "id" and str(value).isdigit() and str(int(value)) == str(value):
                row[name] = int(value)


@pytest.mark.parametrize(
    "words",
    [
        [numbers_as_text, times_without_offset_and_ids_as_numbers],
        [null_for_an_empty_list, the_total_alone],
        [pages_as_people_count],
    ],
)
def test_it_is_certified_and_equals_the_truth(clinic: Clinic, words: list[Words]) -> None:
    def change(path: str, page: dict[str, Any]) -> None:
        for word in words:
            word(path, page)

    with lying(clinic.platform.base_url, change) as base_url:
        settings = clinic.config.read_text()
        clinic.config.write_text(settings.replace(clinic.platform.base_url, base_url))
        result = clinic.sync()

    assert result.exit_code == 0, result
    assert clinic.differences() == []
