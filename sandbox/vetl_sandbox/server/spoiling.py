"""Answers with a fault in their body."""

import csv
import io
from collections.abc import Callable, Sequence
from typing import Any, Final

import orjson

_BOM: Final = b"\xef\xbb\xbf"
_VALUES: Final = ("state", "status", "species")


def spoiled(kind: str, body: bytes) -> bytes:
    """Return a body with the fault in it, or unchanged if the fault does not fit, such as for an error."""
    if kind in _RECORDS:
        return _with_first_record(body, _RECORDS[kind])
    return _CSV[kind](body) if kind in _CSV else body


def is_csv(kind: str) -> bool:
    """Return whether a fault concerns the CSV alone."""
    return kind in _CSV


def spoils(kind: str) -> bool:
    """Return whether a fault changes the content of an answer."""
    return kind in _CSV or kind in _RECORDS


def _with_first_record(body: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    answer = orjson.loads(body)
    data = answer.get("data")
    content = data.get("content", data) if isinstance(data, dict) else data
    record = content[0] if isinstance(content, list) and content else content
    if isinstance(record, dict) and "id" in record:
        change(record)
    return orjson.dumps(answer)


def _wrong_type(record: dict[str, Any]) -> None:
    time = "created_at" if "created_at" in record else "name"
    record[time] = {"unexpected": True}


def _new_value(record: dict[str, Any]) -> None:
    for name in _VALUES:
        if name in record:
            record[name] = "brand_new_value"


def _missing(record: dict[str, Any]) -> None:
    record.pop(list(record)[-1])


def _id_missing(record: dict[str, Any]) -> None:
    del record["id"]


_RECORDS: Final[dict[str, Callable[[dict[str, Any]], None]]] = {
    "unknown_field": lambda record: record.update(brand_new_field="something"),
    "missing_field": _missing,
    "wrong_type": _wrong_type,
    "new_value": _new_value,
    "id_missing": _id_missing,
}


def _rearranged(body: bytes, arrange: Callable[[Sequence[str], int], list[str]]) -> bytes:
    rows = csv.reader(io.StringIO(body.decode(), newline=""))
    page = io.StringIO(newline="")
    csv.writer(page, lineterminator="\n").writerows(arrange(row, number) for number, row in enumerate(rows))
    return page.getvalue().encode()


def _with_crlf(body: bytes) -> bytes:
    rows = csv.reader(io.StringIO(body.decode(), newline=""))
    page = io.StringIO(newline="")
    csv.writer(page, lineterminator="\r\n").writerows(rows)
    return page.getvalue().encode()


_CSV: Final[dict[str, Callable[[bytes], bytes]]] = {
    "csv_bom": lambda body: _BOM + body,
    "csv_crlf": _with_crlf,
    "csv_column_order": lambda body: _rearranged(body, lambda row, _: list(reversed(row))),
    "csv_extra_column": lambda body: _rearranged(body, lambda row, number: [*row, "" if number else "Brand New"]),
}
