"""Contract: AI outbound request; creating, listing and getting them."""

from support.breaking import Break, edited, switched
from support.contacting import REQUESTS, ended, newcomer, number, reach_out
from support.partner_side import Partner, Row, at_fault, made
from support.rules import rule
from support.shapes import ISO, by_id, without

RECORD, CREATE = "Resources / AI outbound request", "Endpoints / AI outbound requests"
LIST, GET = "Endpoints / List requests", "Endpoints / Get a request"
FIELDS = {
    "id", "partner_request_id", "channel", "purpose", "status", "outcome", "suppression_reason", "error_message",
    "client_id", "patient_id", "contact_number", "context", "contacted_at", "completed_at", "created_at",
}  # fmt: skip


def every(partner: Partner) -> list[Row]:
    return partner.everything(REQUESTS)


@rule(RECORD, without("partner_request_id"), without("error_message"))
def test_a_request_has_its_fields(partner: Partner) -> None:
    assert set(partner.page(REQUESTS)["content"][0]) == FIELDS
    assert set(made(reach_out(partner))) == FIELDS


def shown_as(name: str, wrong: str) -> Break:
    return edited("resources.ai_outbound:render", f'"{name}",', f'({wrong}).alias("{name}"),')


@rule(RECORD, shown_as("channel", "pl.lit('fax')"), says="channel", name="channel", values="sms voice")
@rule(
    RECORD,
    shown_as("purpose", "pl.lit('fun')"),
    says="purpose",
    name="purpose",
    values="scheduling callback_followup refill general",
)
@rule(
    RECORD,
    shown_as("status", "pl.lit('open')"),
    says="status",
    name="status",
    values="received queued in_progress completed suppressed failed",
)
@rule(
    RECORD,
    shown_as("outcome", "pl.lit('sold')"),
    says="outcome",
    name="outcome",
    values="booked opted_out no_response undeliverable",
)
def test_an_enum_of_requests_has_the_contracts_values(partner: Partner, name: str, values: str) -> None:
    told = {row[name] for row in every(partner)} - {None}
    assert told <= set(values.split())
    assert len(told) > 1


@rule(
    RECORD,
    shown_as("outcome", "pl.lit('booked')"),
    says="outcome null",
)
@rule(RECORD, shown_as("outcome", "pl.lit(None)"), says="outcome set")
def test_outcomes_go_with_their_statuses(partner: Partner) -> None:
    allowed: dict[str, set[str | None]] = {
        "completed": {"booked", "opted_out", "no_response"},
        "failed": {"undeliverable", None},
    }
    assert all(row["outcome"] in allowed.get(row["status"], {None}) for row in every(partner))


@rule(
    RECORD,
    shown_as("suppression_reason", "pl.lit('stopped')"),
    says="suppression_reason",
    name="suppression_reason",
    status="suppressed",
)
@rule(
    RECORD,
    edited("resources.ai_outbound:render", "error_message=error", "error_message=pl.lit(None)"),
    says="error_message",
    name="error_message",
    status="failed",
)
def test_a_reason_is_set_exactly_with_its_status(partner: Partner, name: str, status: str) -> None:
    rows = every(partner)
    assert status in {row["status"] for row in rows}
    assert all((row[name] is not None) == (row["status"] == status) for row in rows)


@rule(RECORD, shown_as("completed_at", "pl.col('created_at')"), says="completed_at")
def test_completed_at_is_the_terminal_time(partner: Partner) -> None:
    for row in every(partner):
        final = row["status"] in {"completed", "suppressed", "failed"}
        assert (row["completed_at"] is not None) == final
        assert not final or row["completed_at"] >= row["created_at"]


@rule(
    RECORD,
    edited("outreach:Outreach._dispatch", ', "contacted_at": self._office.now()', ""),
    says="contacted_at, set",
)
@rule(
    RECORD,
    edited(
        "outreach:Outreach._queue",
        '{"status": "queued"}',
        '{"status": "queued", "contacted_at": self._office.now()}',
    ),
    says="contacted_at, null",
)
def test_contacted_at_is_when_the_first_message_was_sent(partner: Partner) -> None:
    assert ended(partner, 0.1, contact_number=number("26"))["contacted_at"] is None
    contacted = ended(partner, 1)
    assert contacted["contacted_at"]
    assert contacted["created_at"] <= contacted["contacted_at"]


@rule(RECORD, shown_as("created_at", "pl.lit('today')"), says="times")
def test_times_are_date_times(partner: Partner) -> None:
    for row in every(partner)[:100]:
        for name in ("contacted_at", "completed_at", "created_at"):
            assert row[name] is None or ISO.fullmatch(row[name])


GIVEN = "server.ai_outbound:_given"


@rule(
    CREATE,
    edited(GIVEN, 'body.text("partner_request_id")', "None"),
    says="partner_request_id",
    given={"partner_request_id": "p-1"},
)
@rule(
    CREATE,
    edited(GIVEN, 'body.choice("purpose", v.PURPOSES.values) or ', ""),
    says="purpose",
    given={"purpose": "callback_followup"},
)
@rule(CREATE, edited(GIVEN, 'body.text("context")', "None"), says="context", given={"context": "Overdue"})
@rule(
    CREATE,
    edited(GIVEN, 'body.choice("channel", v.CHANNELS.values) or ', ""),
    says="channel",
    given={"channel": "voice"},
)
@rule(
    CREATE,
    edited(GIVEN, "phone or (", "'+12125550139' or ("),
    says="contact",
    given={"contact_number": "+12125550177"},
)
def test_a_request_is_as_it_was_asked_for(partner: Partner, given: Row) -> None:
    assert made(reach_out(partner, **given)).items() >= given.items()


@rule(CREATE, edited(GIVEN, 'None if client is None else str(client["id"])', "None"), says="client")
@rule(CREATE, edited(GIVEN, '"patient_id": patient_id', '"patient_id": None'), says="patient")
def test_client_and_patient_are_resolved(partner: Partner) -> None:
    """By the number that is contacted, too."""
    client = newcomer(partner, "+12125550188")
    pet = client["patients"][0]["id"]
    request = made(reach_out(partner, contact_number="+12125550188", patient_id=pet))
    assert (request["client_id"], request["patient_id"]) == (client["id"], pet)


@rule(
    CREATE,
    edited(
        "server.ai_outbound:create_request",
        "None if partner_id is None else table.get(partner_id,",
        "None and table.get(partner_id,",
    ),
    says="idempotency key",
)
def test_the_partners_id_is_an_idempotency_key(partner: Partner) -> None:
    first, again = (made(reach_out(partner, partner_request_id="p-1")) for _ in range(2))
    assert first["id"] == again["id"]
    assert first["id"] in by_id(every(partner))


@rule(
    CREATE,
    switched(http_callbacks=True),
    says="callback_url: https",
    body={"callback_url": "http://a.example/"},
    fields=["callback_url"],
)
@rule(
    CREATE,
    edited(GIVEN, 'body.choice("channel", v.CHANNELS.values)', 'body.text("channel")'),
    says="no other channel",
    body={"channel": "fax"},
    fields=["channel"],
)
@rule(
    CREATE,
    edited(GIVEN, 'body.choice("purpose", v.PURPOSES.values)', 'body.text("purpose")'),
    says="no other purpose",
    body={"purpose": "fun"},
    fields=["purpose"],
)
@rule(
    CREATE,
    edited(GIVEN, 'body.phone("contact_number")', 'body.text("contact_number")'),
    says="a number",
    body={"contact_number": "555"},
    fields=["contact_number"],
)
@rule(
    CREATE,
    edited(GIVEN, "body.fault(None", "body.fault('contact_number'"),
    says="a contact",
    body={"contact_number": None},
    fields=[None],
)
def test_a_request_that_cannot_be_is_refused(partner: Partner, body: Row, fields: list[str | None]) -> None:
    assert at_fault(reach_out(partner, **body)) == fields


@rule(LIST, switched(ai_outbound={"order": "created_asc"}), switched(ai_outbound={"order": "unordered"}))
def test_most_recent_come_first(partner: Partner) -> None:
    newest = made(reach_out(partner))["id"]
    rows = every(partner)
    assert rows[0]["id"] == newest
    created = [row["created_at"] for row in rows]
    assert created == sorted(created, reverse=True)


def passed_over(status: str) -> Break:
    return edited(
        "server.lists:_chosen", "if status in statuses:", f'if status in statuses and status != "{status}":'
    )


@rule(LIST, passed_over("received"), says="received", status="received")
@rule(LIST, passed_over("queued"), says="queued", status="queued")
@rule(LIST, passed_over("in_progress"), says="in_progress", status="in_progress")
@rule(LIST, passed_over("completed"), says="completed", status="completed")
@rule(LIST, passed_over("suppressed"), says="suppressed", status="suppressed")
@rule(LIST, passed_over("failed"), says="failed", status="failed")
def test_the_status_filter_lets_through_its_status(partner: Partner, status: str) -> None:
    reach_out(partner, contact_number=number("26"))
    partner.later(minutes=1)
    reach_out(partner, contact_number=number("26"))
    wanted = [row for row in every(partner) if row["status"] == status]
    assert wanted
    assert by_id(partner.everything(REQUESTS, status=status)) == by_id(wanted)


BY_PARTNERS_ID = 'table.find("" if row_id.startswith("aor_") else row_id,'


@rule(GET, edited("table:Table.find", "row_id == record.get(second[0])", "False"), says="by the partner's id")
@rule(GET, edited("server.records:_body", "table.find(row_id,", BY_PARTNERS_ID), says="by the service's id")
def test_a_request_is_got_by_either_id(partner: Partner) -> None:
    request = made(reach_out(partner, partner_request_id="p-1"))
    assert partner.page(f"{REQUESTS}/p-1") == request
    assert partner.page(f"{REQUESTS}/{request['id']}") == request


@rule(
    GET,
    edited("table:Table.find", 'snapshot.frame["with_partner_id"][place] else None', "False else None"),
    says="historical, by the partner's id",
)
def test_a_historical_request_is_got_by_either_id(partner: Partner) -> None:
    request = next(row for row in every(partner) if row["partner_request_id"])
    for either in (request["id"], request["partner_request_id"]):
        assert partner.page(f"{REQUESTS}/{either}") == request


@rule(GET, edited("server.records:_rendered", "encoded(record)", 'encoded({"request": record})'), says="data")
def test_a_request_stands_in_data(partner: Partner) -> None:
    request = every(partner)[3]
    body = partner.get(f"{REQUESTS}/{request['id']}").json()
    assert (body["success"], body["data"]) == (True, request)


@rule(
    "Versioning",
    edited("outreach:Outreach.accept", "suppression_reason=gate", 'suppression_reason="blocked"'),
    says="3",
)
def test_known_suppressions_have_the_contracts_names(partner: Partner) -> None:
    """New ones may appear; the sandbox has none."""
    request = made(reach_out(partner, contact_number=number("20")))
    assert request["suppression_reason"] in {
        "recent_contact", "active_conversation", "sms_opted_out", "voice_not_supported", "notifications_disabled",
        "client_inactive", "recent_or_upcoming_appointment", "pet_deceased", "stopped",
    }  # fmt: skip
