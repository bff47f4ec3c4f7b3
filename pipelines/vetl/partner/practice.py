"""The typed interface of one practice, which a partner's developer can use without the rest of vetl.

    async with PartnerClient(Account(base_url, username, password, role)) as client:
        practice = PartnerPractice(client, "loc-001")
        async for page in practice.staff_tasks(status="pending"):
            ...
        await practice.create_staff_task(NewStaffTask(title="Call back", client_id="c-1"))

Methods that send take a model of `request_models` or a mapping of its fields, and raise `NotSent` if it breaks a
limit. Every method names its section of the contract, and also raises the errors of `PartnerClient`.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from vetl.core.errors import ContractBroken, NotSent
from vetl.core.pages import Row
from vetl.core.zones import Times
from vetl.partner import models
from vetl.partner.client import UNADDRESSABLE, PartnerClient
from vetl.partner.protocol import PHONE_CALLS, CsvAnswer, Query, whole, writing_request
from vetl.partner.request_models import (
    MESSAGES_PER_MINUTE,
    NewAppointment,
    NewMessage,
    NewStaffTask,
    StaffTaskChanges,
    checked,
)

T = TypeVar("T", bound=BaseModel)
LARGEST = 100


@dataclass(frozen=True, slots=True)
class ListParameters:
    """Names of a list's query parameters. The contract does not show them all; `vetl doctor` finds them."""

    start: str = "start_date"
    end: str = "end_date"
    status: str = "status"
    page: str = "page"
    per_page: str = "per_page"
    first_page: int = 0


@dataclass(frozen=True, slots=True)
class Records(Generic[T]):
    """One page. `total_count` is the number of records in the whole list with the same filters."""

    records: tuple[T, ...]
    total_count: int
    server_time: datetime


async def pages(
    client: PartnerClient,
    practice_id: str,
    path: str,
    query: Mapping[str, str | list[str] | None],
    model: type[T],
    names: ListParameters,
    typed: Callable[[type[T], str, Row], T],
) -> AsyncIterator[Records[T]]:
    """Yield all pages of a list. While it changes, a row may come twice or never; `vetl sync` avoids that."""
    filters: dict[str, str | list[str]] = {name: value for name, value in query.items() if value}
    seen, number = 0, names.first_page
    while True:
        numbered: Query = {**filters, names.page: str(number), names.per_page: str(LARGEST)}
        page = await client.page(practice_id, path, numbered)
        yield Records(tuple(typed(model, path, row) for row in page.rows), page.total_count, page.server_time)
        seen, number = seen + len(page.rows), number + 1
        if not page.rows or seen >= page.total_count:
            return


def typed(model: type[T], label: str, row: Row) -> T:
    """Return a record as its model. Unknown fields and enum values are accepted.

    Raise `ContractBroken` if a field does not fit the contract; the message names the field and not its value.
    """
    try:
        return model.model_validate(row)
    except ValidationError as error:
        fields = sorted({str(item["loc"][0]) for item in error.errors(include_input=False) if item["loc"]})
        raise ContractBroken(f"{label}: a record has unusable {', '.join(fields) or 'content'}") from None


def as_text(bound: datetime | date | None) -> str | None:
    """Return a bound in ISO 8601: a date unchanged, an instant in UTC (a naive one counts as UTC)."""
    if not isinstance(bound, datetime):
        return bound.isoformat() if bound else None
    aware = bound.replace(tzinfo=UTC) if bound.tzinfo is None else bound.astimezone(UTC)
    return aware.isoformat().replace("+00:00", "Z")


M = TypeVar("M", bound=BaseModel)
Fields = Mapping[str, Any]
CREATED = 201
LARGEST_CSV = 5000
OUTBOUND = "ai_outbound/requests"


@dataclass(frozen=True, slots=True)
class Sent:
    """A message in the platform's answer; `new`: it was sent now (201), neither suppressed nor known before."""

    message: models.Message
    new: bool


class PartnerPractice:
    """The interface of one practice; `names` are the parameters of lists that differ from `ListParameters()`.

    `local_times`: the zone of times without an offset, if it is not UTC.
    """

    def __init__(
        self,
        client: PartnerClient,
        practice_id: str,
        *,
        names: Mapping[str, ListParameters] | None = None,
        local_times: str | None = None,
    ) -> None:
        self.id = practice_id
        self._client = client
        self._names = dict(names or {})
        self._local_times = local_times

    def _typed(self, model: type[M], label: str, row: Row) -> M:
        if self._local_times:
            row = Times.of_record(model, "practice", self._local_times).read(row)
        return typed(model, label, row)

    # Messages

    async def send_message(self, message: NewMessage | Fields) -> Sent:
        """Contract: Create a message. The platform sends it at once, from 8am to 9pm in the practice's local time.

        If the outcome of an attempt is unknown, it is repeated only if the message has a `reference_id`. Raise
        `NotSent` if the message breaks a limit of the contract; `RequestRefused` if the status is 400, and the
        platform sent nothing; `fields` names every problem, with `None` for the sending hours.
        """
        new = checked(NewMessage, "messages", message)
        body = new.model_dump_json(exclude_none=True).encode()
        request = writing_request("POST", "messages", body, repeatable=new.reference_id is not None)
        return await self._client.write(
            self.id,
            request,
            lambda status, row: Sent(self._typed(models.Message, "messages", row), new=status == CREATED),
            per_minute=MESSAGES_PER_MINUTE,
        )

    async def message(self, message_id: str) -> models.Message | None:
        """Contract: Get a message, by the platform's id or the partner's `reference_id`."""
        return await self._get(models.Message, "messages", message_id)

    # AI outbound

    def ai_outbound_requests(self, *, status: str | None = None) -> AsyncIterator[Records[models.OutboundRequest]]:
        """Contract: AI outbound requests, List. The most recent request comes first."""
        return self._pages(models.OutboundRequest, OUTBOUND, status=status)

    async def ai_outbound_request(self, request_id: str) -> models.OutboundRequest | None:
        """Contract: AI outbound requests, Get, by the platform's id or the `partner_request_id`."""
        return await self._get(models.OutboundRequest, OUTBOUND, request_id)

    # Phone calls

    def phone_calls(
        self,
        *,
        start_date: date | None = None,
        end_date: date | None = None,
        direction: str | None = None,
        state: str | None = None,
        outcome: Sequence[str] = (),
        call_classification: str | None = None,
    ) -> AsyncIterator[Records[models.PhoneCall]]:
        """Contract: List phone calls, JSON. Dates are whole practice-local days, both included."""
        query = {
            "start_date": as_text(start_date),
            "end_date": as_text(end_date),
            "direction": direction,
            "state": state,
            "outcome": list(outcome),
            "call_classification": call_classification,
        }
        return pages(self._client, self.id, PHONE_CALLS, query, models.PhoneCall, ListParameters(), self._typed)

    async def phone_calls_csv(
        self, *, start_date: date | None = None, end_date: date | None = None, page: int = 0
    ) -> CsvAnswer:
        """Contract: List phone calls, CSV. Return one page of up to 5000 calls as bytes.

        Raise `TornAnswer` if the page has fewer rows than its own headers promise, in every attempt.
        """
        days = {"start_date": as_text(start_date), "end_date": as_text(end_date)}
        query = {name: value for name, value in days.items() if value}
        query |= {"page": str(page), "per_page": str(LARGEST_CSV)}
        return await self._client.calls(self.id, query, parse=whole)

    async def phone_call(self, call_id: str) -> models.PhoneCall | None:
        """Contract: Get a phone call."""
        return await self._get(models.PhoneCall, PHONE_CALLS, call_id)

    # Booking sessions and appointments

    def booking_sessions(
        self, start: datetime | date, end: datetime | date | None = None, *, status: str | None = None
    ) -> AsyncIterator[Records[models.BookingSession]]:
        """Contract: Booking sessions, updated in a range; `end` defaults to the platform's current date."""
        return self._pages(models.BookingSession, "booking_sessions", start=start, end=end, status=status)

    async def booking_session(self, session_id: str) -> models.BookingSession | None:
        """Contract: Booking sessions, one session."""
        return await self._get(models.BookingSession, "booking_sessions", session_id)

    def appointments(
        self, start: datetime | date, end: datetime | date | None = None
    ) -> AsyncIterator[Records[models.Appointment]]:
        """Contract: List appointments, updated in a range. It is only proposed: `NotFound` if it is withdrawn."""
        return self._pages(models.Appointment, "appointments", start=start, end=end)

    async def create_appointment(self, appointment: NewAppointment | Fields) -> models.Appointment:
        """Contract: Create an appointment. It is never repeated, because no key makes a repetition safe.

        Raise `NotSent` if the fields identify no client or no patient.
        """
        new = checked(NewAppointment, "appointments", appointment)
        return await self._create(models.Appointment, "appointments", new)

    # Staff tasks

    def staff_tasks(self, *, status: str | None = None) -> AsyncIterator[Records[models.StaffTask]]:
        """Contract: Staff tasks, List."""
        return self._pages(models.StaffTask, "staff_tasks", status=status)

    async def create_staff_task(self, task: NewStaffTask | Fields) -> models.StaffTask:
        """Contract: Staff tasks, Create. It is never repeated, because no key makes a repetition safe."""
        return await self._create(models.StaffTask, "staff_tasks", checked(NewStaffTask, "staff_tasks", task))

    async def update_staff_task(self, task_id: str, changes: StaffTaskChanges | Fields) -> models.StaffTask:
        """Contract: Staff tasks, Update. Only the fields in `changes` change."""
        body = checked(StaffTaskChanges, "staff_tasks", changes).model_dump_json(exclude_unset=True).encode()
        request = writing_request("PUT", "staff_tasks", body, record_id=_addressable(task_id), repeatable=True)
        return await self._client.write(
            self.id, request, lambda _, row: self._typed(models.StaffTask, "staff_tasks", row)
        )

    async def delete_staff_task(self, task_id: str) -> None:
        """Contract: Staff tasks, Delete. The task stays with the status `canceled`."""
        request = writing_request("DELETE", "staff_tasks", None, record_id=_addressable(task_id), repeatable=True)
        await self._client.write(self.id, request, lambda _status, _row: None)

    # Clients and patients

    async def clients(
        self, *, name: str | None = None, email: str | None = None, phone: str | None = None
    ) -> list[models.Client]:
        """Contract: Clients and patients. If there are 100 clients, further ones may be missing.

        Raise `NotSent` if name, email and phone are all missing.
        """
        query = {key: value for key, value in (("name", name), ("email", email), ("phone", phone)) if value}
        if not query:
            reason = "at least one of name, email and phone is required"
            raise NotSent(f"clients: not sent: {reason}", fields=((None, reason),))
        page = await self._client.page(self.id, "clients", query)
        return [self._typed(models.Client, "clients", row) for row in page.rows]

    async def client(self, client_id: str) -> models.Client | None:
        """Contract: Clients and patients, one client."""
        return await self._get(models.Client, "clients", client_id)

    async def patients(self, client_id: str, *, name: str | None = None) -> list[models.Patient]:
        """Contract: Clients and patients, the patients of a client.

        Raise `NotSent` if the client's id is empty.
        """
        if not client_id:
            raise NotSent("patients: not sent: client_id is required", fields=(("client_id", "is required"),))
        query = {"client_id": client_id, **({"name": name} if name else {})}
        page = await self._client.page(self.id, "patients", query)
        return [self._typed(models.Patient, "patients", row) for row in page.rows]

    async def patient(self, patient_id: str) -> models.Patient | None:
        """Contract: Clients and patients, one patient."""
        return await self._get(models.Patient, "patients", patient_id)

    def _pages(
        self,
        model: type[M],
        path: str,
        *,
        start: datetime | date | None = None,
        end: datetime | date | None = None,
        status: str | None = None,
    ) -> AsyncIterator[Records[M]]:
        names = self._names.get(path, ListParameters())
        query = {names.start: as_text(start), names.end: as_text(end), names.status: status}
        return pages(self._client, self.id, path, query, model, names, self._typed)

    async def _get(self, model: type[M], path: str, record_id: str) -> M | None:
        row = await self._client.record(self.id, path, record_id)
        return None if row is None else self._typed(model, path, row)

    async def _create(self, model: type[M], path: str, new: BaseModel) -> M:
        request = writing_request("POST", path, new.model_dump_json(exclude_none=True).encode())
        return await self._client.write(self.id, request, lambda _, row: self._typed(model, path, row))


def _addressable(record_id: str) -> str:
    """Return an id; refuse an id that would change the path of the address."""
    if record_id in UNADDRESSABLE:
        raise NotSent("staff_tasks: not sent: no task has this id", fields=(("id", "is of no task"),))
    return record_id
