"""Undeclared fields of a call, from the CSV and from the JSON list, side by side in `_extra`."""

import json
from typing import Any

from support.warehouse_with_rows import HEADER, CsvAnswer, Filled, call_line, call_record

from pipelines.core.steps import ReplaceDays
from pipelines.loading.phone_calls.frames import CallTexts, parse_calls


def page(*lines: str, **extra: str) -> CallTexts:
    """Return a page with further columns, which have the same value in each row."""
    rows = [",".join((HEADER, *extra)), *(",".join((line, *extra.values())) for line in lines)]
    frame = parse_calls(CsvAnswer("".join(f"{row}\n" for row in rows).encode(), len(lines))).frame
    assert isinstance(frame, CallTexts)
    return frame


def replace(filled: Filled, *lines: str, **extra: str) -> Any:
    day = filled.now.date().replace(month=5, day=1)
    return filled.commit("phone_calls", ReplaceDays([page(*lines, **extra)], day, day, filled.now))


def extras(filled: Filled) -> list[Any]:
    rows = filled.rows("select _extra from raw.phone_calls where _deleted_at is null order by id")
    return [text and json.loads(text) for (text,) in rows]


def test_fields_of_the_json_list_that_nobody_declared_are_kept(filled: Filled) -> None:
    replace(filled, call_line())

    changes = filled.attach(call_record("x", recording={"url": "a", "seconds": 3}))

    assert extras(filled) == [{"recording": {"url": "a", "seconds": 3}}]
    assert changes.drift == ("phone_calls: new field recording",)


def test_a_day_that_is_read_again_keeps_them_beside_the_columns_of_the_csv(filled: Filled) -> None:
    replace(filled, call_line(), Agent="A")
    filled.attach(call_record("x", recording="r"))
    before = filled.rows("select rowid, * from raw.phone_calls")

    assert replace(filled, call_line(), Agent="A").unchanged == 1
    assert filled.rows("select rowid, * from raw.phone_calls") == before
    replace(filled, call_line(), Agent="B")

    assert extras(filled) == [{"Agent": "B", "recording": "r"}]
    assert filled.rows("select * from history.phone_calls") == [], "what nobody declared makes no version"


def test_a_call_that_changes_keeps_them_with_its_id(filled: Filled) -> None:
    replace(filled, call_line())
    filled.attach(call_record("x", recording="r"))

    replace(filled, call_line(summary="called back"))

    assert filled.rows("select id, summary from raw.phone_calls") == [("x", "called back")]
    assert extras(filled) == [{"recording": "r"}]
