"""Written requests and parsed answers; for any bytes, only vetl's own errors are raised.

A JSON record and its CSV row are the same call.

Headers are read without an error, whatever they hold; logs and errors have no secret and no personal data.
"""

import json
import re
from datetime import UTC, datetime
from math import inf
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from vetl.core.errors import BadRecord, ContractBroken, SignInRefused, TornAnswer, VetlError
from vetl.core.pages import Page
from vetl.partner import answers, protocol
from vetl.partner.answers import LINE_LENGTH, loggable_query, read_json, redact
from vetl.partner.calls_csv import DURATION_PATTERN, render
from vetl.partner.protocol import Answer

from fuzz.targets import HEADERS, TARGETS

NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)

# As a platform sends them: totals as text, no `total_pages` for booking sessions, an unknown field.
BOOKING_SESSIONS = b"""{"success": true, "data": {"page": 0, "per_page": 100, "total_count": "2", "content": [
  {"id": "bs-1", "status": "active", "stage": "started", "updated_at": "2026-11-20T09:00:00.123Z"},
  {"id": "bs-2", "status": "abandoned", "stage": null, "utm": {"a": 1}}]}, "message": null}"""
VALIDATION_ERROR = b"""{"success": false, "message": "start_date is invalid", "data": {"message":
  "start_date is invalid", "errors": [{"field": "start_date", "message": "must be YYYY-MM-DD"},
  {"field": null, "message": "unknown state"}]}}"""


def answered(body: bytes, status: int = 200, **headers: str) -> Answer:
    named = {name.replace("_", "-").lower(): text for name, text in headers.items()}
    return Answer("GET x for practice p", status, named, body, NOW)


def page_of(data: object) -> Page:
    answer = answered(json.dumps({"success": True, "data": data, "message": None}).encode())
    return protocol.page(answer, answer.json())


@pytest.mark.parametrize(
    ("echo", "understood"),
    [
        ("3", 3),
        (3.0, 3),
        *((odd, None) for odd in (None, -1, True, "x", [], {}, 1.5, 10**30, float("nan"), "9" * 5000)),
    ],
    ids=str,
)
def test_an_odd_echo_is_none(echo: object, understood: int | None) -> None:
    assert page_of({"content": [], "total_count": 0, "per_page": echo}).per_page == understood


@pytest.mark.parametrize("total", [None, "", "many", -1, 1.5, True, [], "1e3", float("inf"), "٣"])
def test_a_page_without_usable_total_breaks_the_contract(total: object) -> None:
    with pytest.raises(ContractBroken, match="total_count"):
        page_of({"content": [], "total_count": total})


def test_a_row_that_is_no_object_is_kept_without_id() -> None:
    """The loader quarantines rows without id, with their content; the page's count stays right."""
    assert page_of({"content": [{"id": "1"}, None, "x"], "total_count": 3}).rows == (
        {"id": "1"},
        {"not_an_object": None},
        {"not_an_object": "x"},
    )


@given(st.text())
def test_any_id_stays_within_its_path(record_id: str) -> None:
    target = protocol.record_request("clients", record_id).target
    rest = target.removeprefix("/services/core/open_api/v1/clients/")
    assert rest.isascii()
    assert not set(rest) & set("/?#\r\n ")


@pytest.mark.parametrize("kind", ["text/csv; charset=utf-8", "application/octet-stream", "text/plain", ""])
def test_a_csv_is_known_by_its_body(kind: str) -> None:
    answer = answered(b"\xef\xbb\xbfDate,Client\r\n", content_type=kind, x_total_count="0", x_page="0")
    page = protocol.csv_page(answer)
    assert (page.body, page.total_count, page.page, page.per_page) == (b"Date,Client\r\n", 0, 0, None)


@pytest.mark.parametrize("coding", ["utf-16", "utf-8-sig"])
@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=latin1"])
def test_a_byte_order_mark_decides_before_the_declared_character_set(coding: str, kind: str) -> None:
    text = '{"success": true, "data": {"id": "Zoë 🐶"}}'
    assert read_json(text.encode(coding), {"content-type": kind}, "GET /x").value == json.loads(text)


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_an_answer_in_utf16_that_says_nothing_of_it_is_read_and_counted_as_repaired(coding: str) -> None:
    text = '{"success": true, "data": {"id": "Zoë 🐶"}}'
    decoded = read_json(text.encode(coding), {"content-type": "application/json"}, "GET /x")
    assert (decoded.value, decoded.repaired) == (json.loads(text), True)


@pytest.mark.parametrize("text", ['{"id": "1", "id": "2"}', '{"id": "1", "note": "a\tb", "id": "2"}'])
def test_of_two_equal_keys_the_last_one_counts_in_both_parsers(text: str) -> None:
    assert read_json(text.encode(), {}, "GET /x").value["id"] == "2"


def test_a_csv_in_another_character_set_becomes_utf8() -> None:
    answer = answered("Client\nZoë\n".encode("latin-1"), content_type="text/csv;charset=latin1", x_total_count="1")
    assert protocol.csv_page(answer).body == "Client\nZoë\n".encode()


@pytest.mark.parametrize(
    ("body", "likeness"),
    [
        (b"", "an empty body"),
        (b" \n<html>", "an HTML page"),
        (b'{"success": true, "da', "JSON that is cut off or malformed (21 bytes)"),
        (b"Ann O'Neill", "11 bytes of text/plain"),
        (b"[" * 100_000, "cut off or malformed"),
        (b"\xff\xfe\x00", "3 bytes of text/plain"),
    ],
)
def test_a_body_that_is_no_json_is_reported_without_its_content(body: bytes, likeness: str) -> None:
    with pytest.raises(TornAnswer) as caught:
        answered(body, content_type="text/plain").json()
    assert likeness in str(caught.value)
    assert "Neill" not in str(caught.value)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"\xef\xbb\xbf[1]", [1]),
        (b"[12345678901234567890123]", [12345678901234567890123]),
        (b'["\xff"]', ["\N{REPLACEMENT CHARACTER}"]),
        (b'{"\\ud83d": ["\\ud83d\\ude00 \\ude00"]}', {"�": ["😀 �"]}),
        (b'["a\tb", "a\x01b", "a\nb"]', ["a\tb", "a\x01b", "a\nb"]),
        (b"[%s, -%s, 1e400]" % (b"9" * 5_000, b"9" * 5_000), [inf, -inf, inf]),
    ],
    ids=["mark", "long number", "no UTF-8", "halves of pairs", "control characters", "endless numbers"],
)
def test_odd_json_is_read(body: bytes, value: object) -> None:
    """Python refuses to read an integer of 5,000 digits; `records` knows that an infinite number is no value."""
    assert answered(body).json().value == value


@pytest.mark.parametrize("content", [{}, {"content": {}}, {"content": "none"}])
def test_a_list_with_a_total_must_have_its_content(content: dict[str, Any]) -> None:
    with pytest.raises(ContractBroken, match="no list `content`"):
        page_of({"total_count": 1, **content})


@pytest.mark.parametrize("total", ["3", ""])
def test_no_page_is_no_empty_list_unless_its_total_is_0(total: str) -> None:
    null = answered(b'{"success": true, "data": null}', X_Total_Count=total)

    with pytest.raises(ContractBroken):
        protocol.page(null, null.json())


@pytest.mark.parametrize("content", [{"content": None}, {}, {"content": []}])
def test_an_empty_list_may_be_written_in_other_ways(content: dict[str, Any]) -> None:
    """Some servers write each empty array as null; beyond the last page the total remains that of the list."""
    assert page_of({"total_count": 0, **content}).rows == ()
    null = answered(b'{"success": true, "data": null}', X_Total_Count="0")
    assert protocol.page(null, null.json()).rows == ()
    beyond = page_of({"content": None, "total_count": 7, "page": 1, "per_page": 100})
    assert (beyond.rows, beyond.total_count) == ((), 7)


def test_a_total_may_stand_in_the_header_that_the_csv_has() -> None:
    answer = answered(b'{"success": true, "data": {"content": [{"id": 1}]}}', x_total_count="7")
    assert protocol.page(answer, answer.json()).total_count == 7


@pytest.mark.parametrize("success", ['"success": true,', '"success": "true",', '"success": null,', ""])
def test_if_success_is_missing_the_status_decides(success: str) -> None:
    answer = answered(b'{%s "data": {"id": "1"}}' % success.encode())
    assert protocol.record(answer, answer.json()) == {"id": "1"}


@pytest.mark.parametrize("success", ["false", '"false"', '"False"', "0"])
def test_a_success_that_is_false_is_none_however_it_is_written(success: str) -> None:
    answer = answered(b'{"success": %s, "data": {"id": "1", "token": "t"}}' % success.encode())
    with pytest.raises(TornAnswer, match="`success` is false"):
        protocol.record(answer, answer.json())
    with pytest.raises(SignInRefused):
        protocol.token_of(answer)


@pytest.mark.parametrize("body", [b'{"message": "log in"}', b'{"success": true}', b"[]", b"1"])
def test_json_without_data_is_no_envelope(body: bytes) -> None:
    with pytest.raises(ContractBroken, match="envelope"):
        protocol.record(answered(body), answered(body).json())


def test_an_empty_csv_is_one_if_its_total_is_0() -> None:
    assert protocol.csv_page(answered(b"", x_total_count="0")).body.startswith(b"Date,Practice,")


@pytest.mark.parametrize(
    ("body", "total", "error"),
    [
        (b"", "1", TornAnswer),
        (b"<html>", "1", TornAnswer),
        (b'{"success": false, "message": "no"}', "1", TornAnswer),
        (b'{"success": true, "data": {}}', "1", ContractBroken),
        (b"Date\n", "", ContractBroken),
        (b"Date\n", "many", ContractBroken),
    ],
)
def test_an_answer_that_is_no_csv_page_is_recognised(body: bytes, total: str, error: type[VetlError]) -> None:
    with pytest.raises(error):
        protocol.csv_page(answered(body, x_total_count=total))


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"success": false, "message": "no"}'])
def test_a_deletion_without_an_answer_is_not_done(body: bytes) -> None:
    with pytest.raises((TornAnswer, ContractBroken)):
        protocol.done(answered(body))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
named = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        ("success", "message", "page", "per_page", "total_count", "content", "errors", "token", "field"),
        json_values,
    ),
)
envelopes = st.fixed_dictionaries(
    {}, optional={"success": st.booleans() | json_values, "data": named | json_values, "message": json_values}
)
bodies = st.one_of(
    st.binary(max_size=200),
    st.one_of(json_values, envelopes).map(lambda value: json.dumps(value).encode()),
    st.sampled_from([BOOKING_SESSIONS, VALIDATION_ERROR]).flatmap(
        lambda body: st.integers(0, len(body)).map(lambda cut: body[:cut])
    ),
)
header_values = st.text(st.characters(codec="latin-1"), max_size=40) | st.sampled_from(
    ["9" * 5000, "Sat, 99 Nov 99999 10:00:00 +9999", "text/csv; charset=zlib", "text/html; charset=idna"]
)


# The first draw builds a table of all characters, which on a busy machine takes longer than hypothesis allows.
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(bodies, st.lists(header_values, min_size=len(HEADERS), max_size=len(HEADERS)), st.integers(100, 999))
def test_no_answer_raises_anything_but_our_errors(body: bytes, headers: list[str], status: int) -> None:
    answer = "\n".join([str(status), *headers, ""]).encode("latin-1") + body
    TARGETS["protocol"].one(answer)
    TARGETS["calls_csv"].one(answer)


HEAD = b"200" + b"\n" * 7
FOUND = [
    ("protocol", HEAD + b"0001-01-01T00:00:00+23:59"),  # before the calendar begins in UTC
    ("calls_csv", HEAD[:5] + b"\n1" + b"\n" * 4 + b"Date,\rPractice\n"),  # line ends of long ago
]


@pytest.mark.parametrize("name", TARGETS)
def test_the_seeds_are_usual_and_hold(name: str) -> None:
    for seed in TARGETS[name].seeds:
        TARGETS[name].one(seed)


@pytest.mark.parametrize(("name", "data"), FOUND)
def test_findings_of_fuzzing_stay_fixed(name: str, data: bytes) -> None:
    TARGETS[name].one(data)


@settings(max_examples=150)
@given(data=st.data(), name=st.sampled_from(sorted(TARGETS)))
def test_spoiled_seeds_hold(data: st.DataObject, name: str) -> None:
    target = TARGETS[name]
    seed = data.draw(st.sampled_from(target.seeds))
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(seed))] * 2)))
    word = data.draw(st.sampled_from(target.words).map(str.encode) | st.binary(max_size=6))
    target.one(seed[:start] + word + seed[end:])


NEW_YORK = ZoneInfo("America/New_York")
CALL = {
    "id": "call-1",
    "created_at": "2026-03-08T07:30:59.900Z",
    "practice_name": "Harbor Animal Hospital",
    "direction": "inbound",
    "state": "in_progress",
    "caller_type": "existing",
    "client_name": "",
    "patient_name": None,
    "phone_number": "+15550104477",
    "call_classification": "price_shopping",
    "summary": 'Asked, "how much?"\nTwice.',
    "customer_sentiment": "Very positive",
    "outcome": "appointment_booked",
    "booked": True,
    "booking_intent": False,
    "duration_seconds": 3725,
}


def test_a_record_is_seen_as_its_csv_row() -> None:
    """The first minute of summer time: 07:30 UTC is 03:30, an hour earlier it was 01:30."""
    shown = {field: value for field, value in CALL.items() if field not in ("id", "created_at", "practice_name")}
    assert render(CALL, NEW_YORK) == {
        **shown,
        "called_at_local": datetime(2026, 3, 8, 3, 30),  # noqa: DTZ001 - practice-local
        "practice": "Harbor Animal Hospital",
        "client_name": None,
        "customer_sentiment": "very_positive",
    }


def test_a_record_that_does_not_fit_names_its_fields_and_no_value() -> None:
    with pytest.raises(BadRecord, match=r"unusable created_at, id$") as caught:
        render({"created_at": "Ann O'Neill"}, NEW_YORK)
    assert "Neill" not in repr(caught.value) + repr(caught.value.__cause__)


@given(st.integers(0, 10**6))
def test_durations_are_minutes_and_seconds_or_with_hours(seconds: int) -> None:
    plain = re.match(DURATION_PATTERN, f"{seconds // 60}:{seconds % 60:02}")
    hours = re.match(DURATION_PATTERN, f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}")
    for match in (plain, hours):
        assert match
        parts = [int(part or 0) for part in match.groups()]
        assert parts[0] * 3600 + parts[1] * 60 + parts[2] == seconds


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("Sat, 21 Nov 2026 10:00:00 GMT", NOW),
        ("Sat, 21 Nov 2026 10:00:00 -0000", NOW),
        ("Sat, 21 Nov 2026 05:00:00 -0500", NOW),
        ("Saturday, 21-Nov-26 10:00:00 GMT", NOW),
        (None, None),
        ("", None),
        ("2026-11-21", None),
        ("Sat, 21 Nov 2026 99:00:00 GMT", None),
    ],
)
def test_dates(text: str | None, moment: datetime | None) -> None:
    assert answers.http_date(text) == moment


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        (" 1.5 ", 1.5),
        ("0", 0),
        ("Sat, 21 Nov 2026 10:01:00 GMT", 60),
        ("Sat, 21 Nov 2026 09:00:00 GMT", 0),
        ("-1", None),
        ("soon", None),
        ("nan", None),
        (None, None),
        ("9" * 400, float("inf")),
    ],
)
def test_retry_after(text: str | None, seconds: float | None) -> None:
    """Seconds, or a date on the server's clock: this machine's clock does not count."""
    assert answers.retry_after(text, NOW) == seconds


@given(st.integers(0, 10**17))
def test_counts_are_read_from_numbers_and_text(number: int) -> None:
    assert answers.count(number) == answers.count(str(number)) == answers.count(f" {number} ") == number


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("state: unknown value 'gone'", "state: unknown value 'gone'"),
        ("2026-01-02 is before 2025-01-01T00:00:00Z", "2026-01-02 is before 2025-01-01T00:00:00Z"),
        ("two\r\n lines\x00 here", "two lines here"),
        ("call +1 (555) 010-4477 now", "call *** now"),
        ("call 555.010.4477", "call ***"),
        ("tel5550104477", "tel***"),
        ("ann.o'neill@example.com is taken", "*** is taken"),
        ("Bearer abc.def expired", "Bearer *** expired"),
        ("token: abc", "token ***"),
        ("id 0f8fad5b-d9cb-469f-a165-70867728950e", "id ***"),
        ("role PARTNER-Role is unknown", "role *** is unknown"),
        (None, ""),
        ({"a": 1}, ""),
    ],
)
def test_texts_are_redacted(text: object, shown: str) -> None:
    assert redact(text, ["partner-role"]) == shown


@given(st.text(max_size=500), st.text(min_size=3, max_size=30), st.text(max_size=500))
def test_no_secret_is_shown_and_no_long_text(before: str, secret: str, after: str) -> None:
    shown = redact(before + secret + after, [secret])
    assert len(shown) <= LINE_LENGTH
    assert shown.isprintable()
    if not set(secret) <= set("* ") and len(secret.split()) == 1 and not {"*", "…"} & set(secret):
        assert secret not in shown or secret in before + "\n" + after


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("page=0&per_page=100&status=pending", "page=0&per_page=100&status=pending"),
        ("since=2026-01-02T03%3A04%3A05Z&end=2026-01-02", "since=2026-01-02T03:04:05Z&end=2026-01-02"),
        ("name=Ann+O%27Neill&email=ann%40example.com&phone=%2B15550104477", "name=***&email=***&phone=***"),
        ("q=Ann&client_id=4477&of=5550104477", "q=***&client_id=***&of=***"),
        ("", ""),
    ],
)
def test_a_query_in_the_log_has_no_personal_data(query: str, shown: str) -> None:
    assert loggable_query(f"/services/core/open_api/v1/clients?{query}") == shown
