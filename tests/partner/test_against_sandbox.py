"""The client and its synchronous face against the real sandbox: every list, every record, as a notebook would."""

import inspect
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

import sandbox
from pipelines.errors import NotFound
from pipelines.partner.blocking import BlockingPractice
from pipelines.partner.client import Account
from pipelines.partner.lists import Records
from pipelines.partner.practice import PartnerPractice

PRACTICE = "loc-001"
PUBLIC = [name for name, _ in inspect.getmembers(PartnerPractice, inspect.isfunction) if not name.startswith("_")]


@pytest.fixture(scope="module")
def platform() -> Iterator[sandbox.Handle]:
    with sandbox.running(practices=1, days=20, calls=150, seed=3, frozen=True) as handle:
        yield handle


@pytest.fixture
def practice(platform: sandbox.Handle) -> Iterator[BlockingPractice]:
    account = Account(platform.base_url, platform.username, SecretStr(platform.password), platform.role)
    with BlockingPractice(account, PRACTICE) as practice:
        yield practice


def ids(pages: Iterator[Records[Any]]) -> set[str]:
    return {record.id for page in pages for record in page.records}


def test_every_list_is_read_whole(platform: sandbox.Handle, practice: BlockingPractice) -> None:
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


def test_every_record_is_got_by_its_id(platform: sandbox.Handle, practice: BlockingPractice) -> None:
    getters = {
        "phone_calls": practice.phone_call,
        "booking_sessions": practice.booking_session,
        "ai_outbound": practice.ai_outbound_request,
        "clients": practice.client,
        "patients": practice.patient,
    }
    for name, get in getters.items():
        wanted = str(platform.truth(PRACTICE, name)[0]["id"])
        assert get(wanted).id == wanted
        assert get("nobody") is None


def test_people_are_found_and_the_csv_tells_its_total(
    platform: sandbox.Handle, practice: BlockingPractice
) -> None:
    client = platform.truth(PRACTICE, "clients")[0]

    assert str(client["id"]) in {found.id for found in practice.clients(name=client["name"])}
    owned = [row for row in platform.truth(PRACTICE, "patients") if row["client_id"] == client["id"]]
    assert {pet.id for pet in practice.patients(str(client["id"]))} == {str(row["id"]) for row in owned}
    assert practice.phone_calls_csv().total_count == len(platform.truth(PRACTICE, "phone_calls"))


def test_a_withdrawn_list_is_not_found(platform: sandbox.Handle, practice: BlockingPractice) -> None:
    platform.set(appointments_withdrawn=404)
    try:
        with pytest.raises(NotFound):
            ids(practice.appointments(platform.now()))
    finally:
        platform.set(appointments_withdrawn=None)


def test_closing_twice_is_closing_once(platform: sandbox.Handle) -> None:
    account = Account(platform.base_url, platform.username, SecretStr(platform.password), platform.role)
    practice = BlockingPractice(account, PRACTICE)
    practice.close()
    practice.close()


def test_the_page_about_the_client_shows_each_call() -> None:
    page = (Path(__file__).parents[2] / "docs" / "client.md").read_text()

    assert [name for name in PUBLIC if f".{name}(" not in page] == []
