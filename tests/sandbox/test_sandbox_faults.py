"""Faults look real on the wire, and are the same each time."""

from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Literal

import httpx
import pytest
from support.partner_side import SIGN_IN, Partner

from sandbox.faults import KINDS, PRESETS, Fault, Faults


@pytest.mark.parametrize("status", [500, 502, 503, 504])
@pytest.mark.parametrize(("body", "kind"), [("json", "application/json"), ("html", "text/html")])
def test_a_status_comes_as_envelope_or_as_a_proxys_page(
    partner: Partner, status: Literal[500, 502, 503, 504], body: Literal["json", "html"], kind: str
) -> None:
    partner.platform.faults.set([Fault("status", status=status, body=body)])
    answer = partner.get("staff_tasks")
    assert answer.status_code == status
    assert answer.headers["Content-Type"].startswith(kind)


def test_a_rate_limit_says_how_long_to_wait_or_nothing(partner: Partner) -> None:
    faults = [
        Fault("rate_limited", most=1, wait_seconds=7),
        Fault("rate_limited", most=1, retry_after="date", wait_seconds=30),  # by the platform's clock
        Fault("rate_limited", most=1, retry_after="none"),
    ]
    partner.platform.faults.set(faults)
    seconds, date, nothing = (partner.get("staff_tasks", page=page) for page in range(3))
    assert {seconds.status_code, date.status_code, nothing.status_code} == {429}
    assert seconds.headers["Retry-After"] == "7"
    until, now = (parsedate_to_datetime(date.headers[name]) for name in ("Retry-After", "Date"))
    assert until - now == timedelta(seconds=30)
    assert "Retry-After" not in nothing.headers


def test_a_connection_is_closed_in_the_middle_of_a_body(partner: Partner) -> None:
    partner.platform.faults.set([Fault("closed")])
    with pytest.raises(httpx.RemoteProtocolError):
        partner.get("staff_tasks")


def test_a_csv_is_cut_short_with_status_200(partner: Partner) -> None:
    whole = partner.get("phone_calls", format="csv")
    partner.platform.faults.set([Fault("truncated_csv")])
    torn = partner.get("phone_calls", format="csv")
    assert torn.status_code == 200
    assert torn.headers["X-Total-Count"] == whole.headers["X-Total-Count"]
    assert torn.content == whole.content[: len(whole.content) // 2]
    assert partner.get("phone_calls").json()["success"] is True


def test_a_login_page_comes_with_status_200(partner: Partner) -> None:
    partner.platform.faults.set([Fault("login_page")])
    answer = partner.get("staff_tasks")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/html")


def test_a_revoked_token_stays_revoked_until_the_next_sign_in(partner: Partner) -> None:
    partner.platform.faults.set([Fault("token_revoked", most=1)])
    assert [partner.get("staff_tasks").status_code for _ in range(2)] == [401, 401]
    partner.sign_in()
    assert partner.get("staff_tasks").status_code == 200


def test_one_request_is_hit_a_few_times_in_a_row_and_then_gets_through(partner: Partner) -> None:
    partner.platform.faults.set([Fault("status", in_a_row=3)])
    assert [partner.get("staff_tasks").status_code for _ in range(5)] == [503, 503, 503, 200, 200]
    assert partner.get("staff_tasks", page=1).status_code == 503


def test_a_fault_may_have_an_end(partner: Partner) -> None:
    partner.platform.faults.set([Fault("status", most=2, in_a_row=None)])
    assert [partner.get("staff_tasks", page=page).status_code for page in range(4)] == [503, 503, 200, 200]
    assert partner.platform.faults.hits == {"status": 2}


def test_a_fault_hits_its_paths_alone_sign_in_too_and_never_the_control_interface(partner: Partner) -> None:
    partner.platform.faults.set([Fault("status", path="*/staff_tasks"), Fault("status", path="*/sign-in", most=1)])
    assert partner.get("ai_outbound/requests").status_code == 200
    assert partner.get("staff_tasks").status_code == 503
    assert partner.http.post(SIGN_IN, json={}).status_code == 503
    partner.platform.faults.set([Fault("status", in_a_row=None)])
    assert partner.http.get("/_control/clock").status_code == 200


def test_a_share_of_requests_is_hit_and_the_same_ones_each_time() -> None:
    def hit(seed: int) -> list[bool]:
        faults = Faults(seed=seed)
        faults.set([Fault("status", share=0.3)])
        return [faults.strike("/x", f"GET /x?page={page}") is not None for page in range(1000)]

    assert 250 < sum(hit(1)) < 350
    assert hit(1) == hit(1)
    assert hit(1) != hit(2)


def test_the_fault_of_a_request_does_not_depend_on_other_requests() -> None:
    alone, among = Faults(), Faults()
    for faults in (alone, among):
        faults.set([Fault("status", share=0.5)])
    for page in range(50):
        among.strike("/x", f"other {page}")
    assert [alone.strike("/x", f"{n}") for n in range(50)] == [among.strike("/x", f"{n}") for n in range(50)]


TASKS = "POST */staff_tasks"


def create(partner: Partner) -> httpx.Response:
    return partner.post("staff_tasks", {"title": "Call back"})


def test_a_task_may_be_created_although_the_answer_says_that_it_failed(partner: Partner) -> None:
    partner.platform.faults.set([Fault("failed_late", path=TASKS, status=502)])
    before = len(partner.platform.truth("loc-001", "staff_tasks"))

    assert create(partner).status_code == 502
    assert len(partner.platform.truth("loc-001", "staff_tasks")) == before + 1


def test_a_created_task_may_come_without_its_id(partner: Partner) -> None:
    partner.platform.faults.set([Fault("id_missing", path=TASKS)])

    assert "id" not in create(partner).json()["data"]


def test_a_person_may_rewrite_a_task_just_after_it_was_created(partner: Partner) -> None:
    partner.platform.faults.set([Fault("edited", path=TASKS)])
    made = create(partner).json()["data"]

    tasks = {task["id"]: task for task in partner.platform.truth("loc-001", "staff_tasks")}
    assert made["title"] == "Call back"
    assert tasks[made["id"]]["title"] == "Call them"


def test_a_rule_of_method_and_path_leaves_other_methods_alone(partner: Partner) -> None:
    partner.platform.faults.set([Fault("status", path=TASKS)])

    assert partner.get("staff_tasks").status_code == 200
    assert create(partner).status_code == 503


def test_the_presets_together_have_every_kind() -> None:
    assert {fault.kind for preset in PRESETS.values() for fault in preset} == set(KINDS)
