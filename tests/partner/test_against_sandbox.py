"""The client against the real sandbox: every list, every record, every change."""

import asyncio
import csv
import inspect
import io
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
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
from vetl.core.endpoint import KnownValues, Record
from vetl.partner import models
from vetl.partner.client import Account, PartnerClient
from vetl.partner.models import Message
from vetl.partner.practice import PartnerPractice, Records
from vetl.partner.request_models import NewStaffTask, StaffTaskChanges

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


def play(platform: vetl_sandbox.Handle, scene: Callable[[PartnerPractice], Coroutine[Any, Any, None]]) -> None:
    """Run a scene with a client of the first practice."""
    account = Account(platform.base_url, platform.username, SecretStr(platform.password), platform.role)

    async def run() -> None:
        async with PartnerClient(account) as client:
            await scene(PartnerPractice(client, PRACTICE))

    asyncio.run(run())


async def ids(pages: AsyncIterator[Records[Any]]) -> set[str]:
    return {record.id async for page in pages for record in page.records}


def test_a_csv_that_was_cut_short_is_read_again(platform: vetl_sandbox.Handle) -> None:
    """Its status is 200 and its length right: only its own headers show the fault."""
    platform.faults.set([vetl_sandbox.Fault("truncated_csv", path="*/phone_calls", most=1)])

    async def scene(practice: PartnerPractice) -> None:
        page = await practice.phone_calls_csv()
        assert len(list(csv.DictReader(io.StringIO(page.body.decode())))) == page.total_count

    play(platform, scene)

    assert platform.faults.hits == {"truncated_csv": 1}


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
def test_every_path_and_method_of_the_interface_is_called_and_answers(platform: vetl_sandbox.Handle) -> None:
    """Every list is read whole, each record is found by its id, people also by name; what is made is there."""
    platform.requests.clear()
    own = {str(platform.truth(PRACTICE, name)[0]["id"]) for name in GOT_BY_ID}

    async def scene(practice: PartnerPractice) -> None:
        await read_everything(platform, practice)
        own.add(await write_everything(platform, practice))

    play(platform, scene)

    answered = {
        (seen.method, path_of(seen.path, own)) for seen in platform.requests.log if seen.status in (200, 201)
    }
    assert answered - OF_THE_SANDBOX == operations(platform)


async def read_everything(platform: vetl_sandbox.Handle, practice: PartnerPractice) -> None:
    since = platform.now() - timedelta(days=100)
    lists = {
        "phone_calls": practice.phone_calls(),
        "booking_sessions": practice.booking_sessions(since),
        "appointments": practice.appointments(since),
        "ai_outbound": practice.ai_outbound_requests(),
        "staff_tasks": practice.staff_tasks(),
    }
    for name, pages in lists.items():
        assert await ids(pages) == {str(row["id"]) for row in platform.truth(PRACTICE, name)}, name
    for name, call in GOT_BY_ID.items():
        first = str(platform.truth(PRACTICE, name)[0]["id"])
        assert (await getattr(practice, call)(first)).id == first
        assert await getattr(practice, call)("nobody") is None
    client = platform.truth(PRACTICE, "clients")[0]
    assert str(client["id"]) in {person.id for person in await practice.clients(name=client["name"])}
    pets = await practice.patients(str(client["id"]))
    assert [pet.id for pet in pets] == [pet["id"] for pet in client["patients"]]


async def write_everything(platform: vetl_sandbox.Handle, practice: PartnerPractice) -> str:
    """Make a message, an appointment and a task; return the id of the task."""
    text = {"recipient": {"phone_number": "+12125550143"}, "fallback_text": "Rex is due."}
    assert await practice.message((await practice.send_message(text)).message.id)
    visit = await practice.create_appointment(booking(Partner(platform)))
    assert visit.id in {str(row["id"]) for row in platform.truth(PRACTICE, "appointments")}
    task = await practice.create_staff_task(NewStaffTask(title="Call back"))
    done = await practice.update_staff_task(task.id, StaffTaskChanges(status="completed"))
    assert (done.status, done.title, done.finalized_at is None) == ("completed", "Call back", False)
    await practice.update_staff_task(task.id, {"status": "pending"})
    await practice.delete_staff_task(task.id)
    (kept,) = [row for row in platform.truth(PRACTICE, "staff_tasks") if str(row["id"]) == task.id]
    assert kept["status"] == "canceled"
    return task.id


def path_of(path: str, own: set[str]) -> str:
    """Return the described path: its last part after a list is an id."""
    parts = path.rpartition("/v1/")[2].split("/")
    is_id = parts[-1] in own or (parts[0] == "messages" and len(parts) > 1)
    return "/".join([*parts[:-1], "{id}"] if is_id else parts)


def test_the_page_about_the_client_shows_each_call() -> None:
    page = (Path(__file__).parents[2] / "docs" / "client.md").read_text()

    assert [name for name in PUBLIC if f".{name}(" not in page] == []
