"""The doctor on platforms that differ in points that the contract leaves open: a right table, a whole sync."""

from typing import Any

import pytest
from support.lists import PAGED
from support.platform_and_settings import Clinic, findings_by_check

Expected = dict[tuple[str, str], tuple[str, str]]

RANGE = "booking_sessions"
WRITTEN = "written"
"""The state of a name that contradicts vetl.toml: it is written there, and right at the second look."""
PLATFORMS: dict[str, tuple[dict[str, Any], Expected]] = {
    "as the sandbox comes": (
        {},
        {
            ("phone_calls", "time zone"): ("note", "America/New_York"),
            (RANGE, "start"): ("ok", "start_date"),
            (RANGE, "bounds"): ("note", "instant []"),
            (RANGE, "page size"): ("note", "50 to 100"),
            ("staff_tasks", "order"): ("note", "created_at descending"),
            ("staff_tasks", "status"): ("ok", "status"),
            ("staff_tasks", "first page"): ("ok", "0"),
        },
    ),
    "other names": (
        {
            RANGE: {"start": "updated_since", "end": "until"},
            "appointments": {"start": "from", "end": "to", "start_required": False},
            "staff_tasks": {"page": "page_number", "per_page": "limit", "status": "state"},
            "ai_outbound": {"status": "state", "unknown_status": "everything"},
            "booking_intent_parameter": "wants_booking",
            "client_parameter": "matched_client_id",
        },
        {
            (RANGE, "start"): (WRITTEN, "updated_since"),
            (RANGE, "end"): (WRITTEN, "until"),
            ("appointments", "start"): (WRITTEN, "from"),
            ("appointments", "end"): (WRITTEN, "to"),
            ("staff_tasks", "page"): (WRITTEN, "page_number"),
            ("staff_tasks", "per_page"): (WRITTEN, "limit"),
            ("staff_tasks", "status"): (WRITTEN, "state"),
            ("ai_outbound", "status"): (WRITTEN, "state"),
            ("ai_outbound", "unknown status"): ("note", "everything"),
            ("phone_calls", "intent filter"): ("ok", "wants_booking"),
            ("phone_calls", "client filter"): ("ok", "matched_client_id"),
        },
    ),
    "names that do not belong together, and unknown ones refused": (
        {
            "unknown_parameters": "refused",
            RANGE: {"start": "updatedAfter", "end": "until", "page": "pageIndex", "per_page": "pageSize"},
            "staff_tasks": {"per_page": "page_size", "page": "p"},
        },
        {
            (RANGE, "start"): (WRITTEN, "updatedAfter"),
            (RANGE, "end"): (WRITTEN, "until"),
            (RANGE, "page"): (WRITTEN, "pageIndex"),
            (RANGE, "per_page"): (WRITTEN, "pageSize"),
            ("staff_tasks", "per_page"): (WRITTEN, "page_size"),
            ("staff_tasks", "page"): (WRITTEN, "p"),
        },
    ),
    "exclusive bounds, pages from one, over-large pages refused": (
        {
            RANGE: {"bounds": "()", "over_large": "refuse"},
            "appointments": {"bounds": "[)", "page_base": 1},
            "ai_outbound": {"page_base": 1},
            "staff_tasks": {"over_large": "refuse"},
        },
        {
            (RANGE, "bounds"): ("note", "instant ()"),
            ("appointments", "bounds"): ("note", "instant [)"),
            ("appointments", "first page"): ("note", "1"),
            ("ai_outbound", "first page"): ("note", "1"),
            ("staff_tasks", "page size"): ("note", "50 to 100"),
        },
    ),
    "whole days": (
        {
            RANGE: {"granularity": "day", "day_zone": "practice"},
            "appointments": {"granularity": "day", "bounds": "[)"},
        },
        {
            (RANGE, "bounds"): ("note", "day []"),
            (RANGE, "days"): ("note", "practice"),
            ("appointments", "bounds"): ("note", "day [)"),
            ("appointments", "days"): ("note", "UTC"),
        },
    ),
    "date-times refused, one list under other names and half open": (
        {
            RANGE: {"instants": "refused", "start": "fromDate", "end": "toDate", "bounds": "[)"},
            "appointments": {"instants": "refused"},
        },
        {
            (RANGE, "start"): (WRITTEN, "fromDate"),
            (RANGE, "end"): (WRITTEN, "toDate"),
            (RANGE, "bounds"): ("note", "day [)"),
            ("appointments", "bounds"): ("note", "day []"),
            ("appointments", "days"): ("note", "UTC"),
        },
    ),
    "appointments withdrawn, other orders, other times, integer ids": (
        {
            "appointments_withdrawn": 410,
            "integer_ids": True,
            "timestamps": "practice",
            "staff_tasks": {"order": "updated_desc"},
            RANGE: {"order": "unordered"},
        },
        {
            ("appointments", "list"): ("note", "withdrawn"),
            ("staff_tasks", "order"): ("note", "updated_at descending"),
            (RANGE, "order"): ("note", "none that shows"),
            ("phone_calls", "time zone"): ("note", "America/New_York"),
        },
    ),
}


@pytest.mark.parametrize("name", PLATFORMS)
def test_every_open_point_of_the_contract_is_found_written_and_used_by_a_sync(clinic: Clinic, name: str) -> None:
    switches, expected = PLATFORMS[name]
    clinic.platform.set(**switches)

    lists = {name for name, _ in expected}
    report = clinic.doctor(*lists, write=True)

    findings = findings_by_check(report)
    seen = {key: ("ok" if state == WRITTEN else state, found) for key, (state, found) in expected.items()}
    assert {key: (findings[key].state, findings[key].found) for key in expected} == seen
    assert report.exit_code == 0
    written = {
        f"partner.parameters.{of}.{name}" for (of, name), (state, _) in expected.items() if state == WRITTEN
    }
    assert set(report.written) == written
    there = {name for name, check in expected if check != "list"}
    result = clinic.sync(*lists)
    assert result.exit_code == 0, result
    assert clinic.differences(*there) == []


def test_practice_local_times_without_an_offset_are_found_and_the_zone_stays(clinic: Clinic) -> None:
    """They differ from the CSV as those of a practice in UTC: that zone was written, and all was certified."""
    clinic.platform.set(timestamps="practice_without_offset")
    assert clinic.sync().exit_code == 3
    before = clinic.config.read_text()

    report = clinic.doctor(write=True)

    assert report.written == ("partner.times_without_offset",)
    line = 'times_without_offset = "practice"\n'
    assert clinic.config.read_text().replace(line, "").split() == before.split()
    result = clinic.sync()
    assert result.exit_code == 0
    assert sum(item.changes.restated for item in clinic.sync().results) == 0
    assert not [note for item in result.results for note in item.notes if "without an offset" in note]
    clinic.platform.set(timestamps="milliseconds")
    assert clinic.differences() == []
    assert clinic.doctor("phone_calls").exit_code == 0


def test_times_in_utc_without_an_offset_are_read_with_a_note_until_the_settings_say_so(clinic: Clinic) -> None:
    clinic.platform.set(timestamps="without_offset")

    report = clinic.doctor("phone_calls", write=True)
    noted = clinic.sync()
    config = clinic.config.read_text().replace("[partner]\n", '[partner]\ntimes_without_offset = "utc"\n')
    clinic.config.write_text(config)
    quiet = clinic.sync()

    finding = findings_by_check(report)["phone_calls", "times without an offset"]
    assert (report.written, finding.state, finding.found) == ((), "note", "utc")
    assert (noted.exit_code, quiet.exit_code) == (0, 0)
    said = {item.endpoint for item in noted.results for note in item.notes if "are read as UTC" in note}
    assert said == set(PAGED)
    assert not [note for item in quiet.results for note in item.notes if "offset" in note]
    clinic.platform.set(timestamps="milliseconds")
    assert clinic.differences() == []


def test_a_wrong_reading_of_times_without_an_offset_is_put_back(clinic: Clinic) -> None:
    clinic.platform.set(timestamps="without_offset")
    config = clinic.config.read_text().replace("[partner]\n", '[partner]\ntimes_without_offset = "practice"\n')
    clinic.config.write_text(config)

    assert clinic.sync().exit_code == 3
    assert clinic.doctor("phone_calls", write=True).written == ("partner.times_without_offset",)
    assert clinic.config.read_text() == config.replace('"practice"', '"utc"')
    assert clinic.sync().exit_code == 0
    clinic.platform.set(timestamps="milliseconds")
    assert clinic.differences() == []
