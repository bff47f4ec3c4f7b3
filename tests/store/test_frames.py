"""JSON rows as typed frames: no value is lost or silently becomes null."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import polars as pl
import pytest
from hypothesis import given, strategies as st
from vetl.endpoints import by_name
from vetl.store.frames import Shape, Typed, typed

SESSIONS = by_name("booking_sessions")
CLIENTS = by_name("clients")
NOON = datetime(2025, 1, 1, 12, 0, tzinfo=UTC)


def read(*rows: Any, endpoint: Any = SESSIONS) -> Typed:
    return typed(rows, Shape(endpoint.columns(), endpoint.key, endpoint.record), ["p1"] * len(rows))


FORMS = {
    "2025-01-01T12:00:00.000000000Z": NOON,
    "2025-01-01T12:00:00,000Z": NOON,
    "2025-01-01T14:00+02": NOON,
    "2025-01-01t12:00:00z": NOON,
    "20250101T120000": NOON,
    "2025-W01-3T12:00:00Z": NOON,
    "2025-01-01T12:00:00.123456789Z": NOON.replace(microsecond=123456),
    "2024-12-31T24:00:00.000Z": NOON.replace(hour=0),
    "20241231T2400Z": NOON.replace(hour=0),
}


def test_every_form_of_iso_8601_is_read() -> None:
    rows = [{"id": text, "created_at": text} for text in FORMS]

    assert dict(read(*rows).frame.select("id", "created_at").rows()) == FORMS


WAYS: list[Callable[[datetime], str]] = [
    datetime.isoformat,
    lambda moment: moment.isoformat(" "),
    lambda moment: moment.astimezone(UTC).isoformat().replace("+00:00", "Z"),
    lambda moment: moment.strftime("%Y%m%dT%H%M%S.%f%z"),
    lambda moment: moment.astimezone(UTC).replace(tzinfo=None).isoformat(),
]
offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
aware = st.datetimes(NOON.replace(tzinfo=None, year=1900), NOON.replace(tzinfo=None, year=2200), timezones=offsets)


@given(moments=st.lists(aware, min_size=1, max_size=8), forms=st.randoms(use_true_random=False))
def test_mixed_forms_and_offsets_in_one_column_are_each_read_right(moments: list[datetime], forms: Any) -> None:
    rows = [{"id": str(n), "created_at": forms.choice(WAYS)(moment)} for n, moment in enumerate(moments)]

    result = read(*rows)

    assert result.bad == ()
    assert result.frame["created_at"].to_list() == moments


@given(text=st.text(min_size=1, max_size=25))
def test_a_text_is_an_instant_or_a_bad_row_but_never_null(text: str) -> None:
    result = read({"id": "a", "created_at": text})

    assert result.frame.height + len(result.bad) == 1
    assert result.frame["created_at"].null_count() == 0


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"status": "active"}, "id: missing"),
        ({"id": None}, "id: string expected"),
        ({"id": ""}, "id: missing"),
        *(({"id": number}, "id: impossible value") for number in (1e400, -1e400, 123456789012345678.5)),
        ({"id": "a", "created_at": "yesterday"}, "created_at: datetime expected"),
        ({"id": "a", "created_at": "0001-01-01T00:00:00+14:00"}, "created_at: impossible value"),
        ({"id": "a", "stage": {"name": "started"}}, "stage: string expected"),
        ({"id": "a", "stage": "\ud800"}, "stage: cannot be written in UTF-8"),
        ({"id": "a", "foo": float("nan")}, "an unknown field is not JSON"),
        (None, "not an object"),
        ([], "not an object"),
        ("a", "not an object"),
    ],
)
def test_a_bad_row_is_set_aside_with_its_reason_and_the_rest_goes_on(row: Any, reason: str) -> None:
    good = [{"id": str(n), "stage": "started"} for n in range(300)]

    result = read(*good[:150], row, *good[150:])

    assert result.frame["id"].to_list() == [item["id"] for item in good]
    (bad,) = result.bad
    assert bad.reason.startswith(reason)
    assert bad.payload == json.dumps(row, sort_keys=True)


@pytest.mark.parametrize("others", [[], ["not an object"]], ids=["by column", "row by row"])
def test_an_empty_text_is_no_value_except_of_a_text(others: list[Any]) -> None:
    task = {"id": "a", "title": "", "finalized_at": "", "cancellation_allowed": ""}

    result = read(
        task, {**task, "id": "b", "finalized_at": NOON.isoformat()}, *others, endpoint=by_name("staff_tasks")
    )

    assert result.frame.select("id", "title", "finalized_at", "cancellation_allowed").rows() == [
        ("a", "", None, None),
        ("b", "", NOON, None),
    ]
    assert len(result.bad) == len(others)


def test_equal_json_has_one_text() -> None:
    frame = read(
        {"id": "a", "patients": [{"name": "Rex", "id": "1"}]},
        {"id": "b", "patients": [{"id": "1", "name": "Rex"}]},
        {"id": "c"},
        endpoint=CLIENTS,
    ).frame

    assert frame["patients"].to_list() == ['[{"id":"1","name":"Rex"}]'] * 2 + [None]


numbers = st.integers() | st.floats()
values = st.none() | st.booleans() | numbers | st.text(max_size=5) | st.lists(st.integers(), max_size=2)


@given(rows=st.lists(st.dictionaries(st.sampled_from(["id", "status", "created_at", "x"]), values), max_size=6))
def test_every_row_is_either_read_or_set_aside(rows: list[dict[str, Any]]) -> None:
    result = read(*rows)

    assert result.frame.height + len(result.bad) == len(rows)
    assert result.frame["_position"].is_sorted()
    assert result.frame.filter(pl.col("id").is_null() | (pl.col("id") == "")).is_empty()
