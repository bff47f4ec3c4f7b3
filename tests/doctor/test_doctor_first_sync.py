"""A user who does not know doctor: the first sync makes the essential checks by itself."""

import pytest
from support.platform_and_settings import Clinic, findings_by_check

NAMES_OF_ITS_OWN = {
    "booking_sessions": {"start": "updated_since", "end": "until", "page": "page_number", "page_base": 1},
    "staff_tasks": {"per_page": "limit", "page": "p", "status": "state"},
}


@pytest.mark.parametrize("unknown", ["ignored", "refused"])
def test_a_first_sync_finds_other_names_by_itself(clinic: Clinic, unknown: str) -> None:
    clinic.platform.set(unknown_parameters=unknown, **NAMES_OF_ITS_OWN)

    assert clinic.sync(*NAMES_OF_ITS_OWN).exit_code == 0

    assert clinic.differences(*NAMES_OF_ITS_OWN) == []


def test_the_questions_are_asked_once_and_are_few(clinic: Clinic) -> None:
    first, second = (clinic.sync("booking_sessions").results[0] for _ in range(2))

    assert first.state == second.state == "certified"
    assert first.requests - second.requests <= 15


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
