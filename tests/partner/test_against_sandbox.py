"""The client and its synchronous face against the real sandbox: every list, every record, as a notebook would."""

import csv
import inspect
import io
import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.request import urlopen
from zoneinfo import ZoneInfo

import pytest
import vetl_sandbox
from pydantic import SecretStr
from support.partner_requests import booking
from support.partner_side import Partner
from vetl.core.errors import ConfigurationError
from vetl.core.records import KnownValues, Record
from vetl.partner import models
from vetl.partner.blocking import BlockingPractice
from vetl.partner.client import Account
from vetl.partner.lists import Records
from vetl.partner.practice import PartnerPractice
from vetl.partner.request_models import NewStaffTask, StaffTaskChanges
from vetl.partner.webhook_models import Message

PRACTICE = "loc-001"
GOT_BY_ID = {
    "phone_calls": "phone_call",
    "booking_sessions": "booking_session",
    "ai_outbound": "ai_outbound_request",
    "clients": "client",
    "patients": "patient",
}
PUBLIC = [name for name, _ in inspect.getmembers(PartnerPractice, inspect.isfunction) if not name.startswith("_")]


@pytest.fixture(scope="module")
def platform() -> Iterator[vetl_sandbox.Handle]:
    with vetl_sandbox.running(practices=1, days=20, calls=150, seed=3, frozen=True) as handle:
        yield handle


@pytest.fixture
def practice(platform: vetl_sandbox.Handle) -> Iterator[BlockingPractice]:
    account = Account(platform.base_url, platform.username, SecretStr(platform.password), platform.role)
    with BlockingPractice(account, PRACTICE) as practice:
        yield practice


def ids(pages: Iterator[Records[Any]]) -> set[str]:
    return {record.id for page in pages for record in page.records}


def test_a_csv_that_was_cut_short_is_read_again(platform: vetl_sandbox.Handle, practice: BlockingPractice) -> None:
    """Its status is 200 and its length right: only its own headers show the fault."""
    platform.faults.set([vetl_sandbox.Fault("truncated_csv", path="*/phone_calls", most=1)])

    page = practice.phone_calls_csv()

    assert platform.faults.hits == {"truncated_csv": 1}
    assert len(list(csv.DictReader(io.StringIO(page.body.decode())))) == page.total_count


RECORDS: dict[str, type[Record]] = {
    "PhoneCall": models.PhoneCall,
    "BookingSession": models.BookingSession,
    "Appointment": models.Appointment,
    "AiOutboundRequest": models.OutboundRequest,
    "StaffTask": models.StaffTask,
    "Client": models.Client,
    "Patient": models.Patient,
    "Message": Message,
}


TIME = models.StaffTask.model_fields["created_at"].annotation


def description(platform: vetl_sandbox.Handle) -> dict[str, Any]:
    with urlopen(f"{platform.base_url}/openapi.json") as answer:
        return json.load(answer)


@pytest.mark.parametrize("name", RECORDS)
def test_both_readings_of_the_contract_have_equal_fields_and_values(
    platform: vetl_sandbox.Handle, name: str
) -> None:
    """Vetl and the sandbox each have their own lists of them, written independently."""
    described = description(platform)["components"]["schemas"][name]["properties"]
    fields = RECORDS[name].model_fields

    assert set(described) == set(fields)
    for field, schema in described.items():
        known = [mark for mark in fields[field].metadata if isinstance(mark, KnownValues)]
        if "enum" in schema:
            assert set(schema["enum"]) - {None} == set(known[0].values), field
        is_time = fields[field].annotation == TIME
        assert (schema.get("format") == "date-time") == is_time, field


@pytest.fixture
def open_hours(platform: vetl_sandbox.Handle) -> None:
    """Texts go out from 8am to 9pm practice local time: move to noon."""
    local = platform.now().astimezone(ZoneInfo(platform.practices[0].time_zone))
    platform.advance(timedelta(hours=(12 - local.hour) % 24))


def test_the_face_of_a_practice_is_complete_and_nothing_else(practice: BlockingPractice) -> None:
    """A notebook completes these names after a dot."""
    assert {"close", *PUBLIC} <= set(dir(practice))
    assert practice.id == PRACTICE
    with pytest.raises(AttributeError):
        practice.appointment  # noqa: B018 - there is no such call


def test_an_address_that_is_refused_leaves_no_thread_behind() -> None:
    before = set(threading.enumerate())

    with pytest.raises(ConfigurationError):
        BlockingPractice(Account("nowhere", "partner", SecretStr("x"), "role"), PRACTICE)

    assert set(threading.enumerate()) <= before


OF_THE_SANDBOX = {("GET", "open_times"), ("POST", "ai_outbound/requests")}
"""Paths that the contract does not show, so no client can call them."""


def operations(platform: vetl_sandbox.Handle) -> set[tuple[str, str]]:
    return {
        (method.upper(), path.rpartition("/v1/")[2])
        for path, methods in description(platform)["paths"].items()
        for method in methods
        if method in ("get", "post", "put", "patch", "delete")
    } - OF_THE_SANDBOX


@pytest.mark.usefixtures("open_hours")
def test_every_path_and_method_of_the_interface_is_called_and_answers(
    platform: vetl_sandbox.Handle, practice: BlockingPractice
) -> None:
    """Every list is read whole, each record is found by its id, people also by name; what is made is there."""
    platform.requests.clear()
    since = platform.now() - timedelta(days=100)
    lists = {
        "phone_calls": practice.phone_calls(),
        "booking_sessions": practice.booking_sessions(since),
        "appointments": practice.appointments(since),
        "ai_outbound": practice.ai_outbound_requests(),
        "staff_tasks": practice.staff_tasks(),
    }
    for name, pages in lists.items():
        assert ids(pages) == {str(row["id"]) for row in platform.truth(PRACTICE, name)}, name
    some = {name: str(platform.truth(PRACTICE, name)[0]["id"]) for name in GOT_BY_ID}
    client = platform.truth(PRACTICE, "clients")[0]
    for name, call in GOT_BY_ID.items():
        assert getattr(practice, call)(some[name]).id == some[name]
        assert getattr(practice, call)("nobody") is None
    assert some["clients"] in {person.id for person in practice.clients(name=client["name"])}
    assert [pet.id for pet in practice.patients(some["clients"])] == [pet["id"] for pet in client["patients"]]
    text = {"recipient": {"phone_number": "+12125550143"}, "fallback_text": "Rex is due."}
    assert practice.message(practice.send_message(text).message.id)
    visit = practice.create_appointment(booking(Partner(platform)))
    assert visit.id in {str(row["id"]) for row in platform.truth(PRACTICE, "appointments")}
    task = practice.create_staff_task(NewStaffTask(title="Call back"))
    done = practice.update_staff_task(task.id, StaffTaskChanges(status="completed"))
    assert (done.status, done.title, done.finalized_at is None) == ("completed", "Call back", False)
    practice.update_staff_task(task.id, {"status": "pending"})
    practice.delete_staff_task(task.id)
    (kept,) = [row for row in platform.truth(PRACTICE, "staff_tasks") if str(row["id"]) == task.id]
    assert kept["status"] == "canceled"

    own = {*some.values(), task.id}
    answered = {
        (seen.method, path_of(seen.path, own)) for seen in platform.requests.log if seen.status in (200, 201)
    }
    assert answered - OF_THE_SANDBOX == operations(platform)


def path_of(path: str, own: set[str]) -> str:
    """Return the described path: its last part after a list is an id."""
    parts = path.rpartition("/v1/")[2].split("/")
    is_id = parts[-1] in own or (parts[0] == "messages" and len(parts) > 1)
    return "/".join([*parts[:-1], "{id}"] if is_id else parts)


def test_the_page_about_the_client_shows_each_call() -> None:
    page = (Path(__file__).parents[2] / "docs" / "client.md").read_text()

    assert [name for name in PUBLIC if f".{name}(" not in page] == []
