"""Faults look real on the wire, and are the same each time."""

from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import pytest
from support.partner_side import SIGN_IN, Partner
from support.rows_by_id import by_id

from sandbox.faults import Fault, Faults


@pytest.mark.parametrize(
    ("fault", "status", "kind"),
    [
        (Fault("status", status=500, body="json"), 500, "application/json"),
        (Fault("status", status=504, body="html"), 504, "text/html"),
        (Fault("login_page"), 200, "text/html"),
    ],
)
def test_a_status_comes_as_envelope_or_as_a_page(partner: Partner, fault: Fault, status: int, kind: str) -> None:
    partner.platform.faults.set([fault])
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


def test_a_revoked_token_stays_revoked_until_the_next_sign_in(partner: Partner) -> None:
    partner.platform.faults.set([Fault("token_revoked", most=1)])
    assert [partner.get("staff_tasks").status_code for _ in range(2)] == [401, 401]
    partner.sign_in()
    assert partner.get("staff_tasks").status_code == 200


def test_one_request_is_hit_a_few_times_in_a_row_and_then_gets_through(partner: Partner) -> None:
    partner.platform.faults.set([Fault("status", in_a_row=3)])
    assert [partner.get("staff_tasks").status_code for _ in range(5)] == [503, 503, 503, 200, 200]
    assert partner.get("staff_tasks", page=1).status_code == 503


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


@pytest.mark.parametrize("kind", ["failed_late", "id_missing", "edited"])
def test_a_created_task_may_be_in_doubt(partner: Partner, kind: Any) -> None:
    """The answer says that it failed, or comes without the id, or a person rewrites the task just after it.

    The rule is one of method and path: other methods are left alone.
    """
    partner.platform.faults.set([Fault(kind, path="POST */staff_tasks", status=502)])
    before = by_id(partner.truth("staff_tasks"))
    assert partner.get("staff_tasks").status_code == 200

    answer = partner.post("staff_tasks", {"title": "Call back"})

    (created,) = [task for key, task in by_id(partner.truth("staff_tasks")).items() if key not in before]
    assert (answer.status_code == 502) == (kind == "failed_late")
    assert ("id" in answer.json().get("data", {})) == (kind == "edited")
    assert created["title"] == ("Call them" if kind == "edited" else "Call back")
