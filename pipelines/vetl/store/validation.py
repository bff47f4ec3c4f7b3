"""Validate one row against its model: slow and exact, with a reason that names fields and never values."""

import json
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from pydantic import BaseModel, ValidationError

from vetl.core.endpoint import Column, Kind
from vetl.core.errors import BadRecord
from vetl.store import instants

_INTEGER_LIMIT = 2**31


def validated(
    row: object, columns: Sequence[Column], key: Sequence[str], record: type[BaseModel]
) -> dict[str, Any]:
    """Return the values of the columns in the types of a typed frame.

    Raises:
        BadRecord: the row does not fit; the message names the fields and their faults.
    """
    if not isinstance(row, Mapping):
        raise BadRecord("not an object")
    try:
        model = record.model_validate(_with_instants(row, columns))
    except ValidationError as error:
        raise BadRecord(_reason(error)) from None
    except (OverflowError, RecursionError):
        raise BadRecord("a value is out of range") from None
    _check_extra(row, {column.name for column in columns})
    values = {column.name: _fitting(column, getattr(model, column.name)) for column in columns}
    for name in key:
        if values[name] in (None, ""):
            raise BadRecord(f"{name}: missing")
    return values


def canonical_json(value: object) -> str:
    """Return the canonical JSON of a value: sorted keys, no spaces, so that equal values hash alike.

    Raises:
        ValueError: the value is not JSON, or cannot be written in UTF-8.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    text.encode()
    return text


def extra_of(row: Mapping[str, Any], declared: AbstractSet[str]) -> str | None:
    """Return the undeclared fields of a row as JSON; `None` if there are none.

    Raises:
        ValueError: a field cannot be written as JSON.
    """
    if row.keys() <= declared:
        return None
    return canonical_json({name: row[name] for name in row.keys() - declared})


def _check_extra(row: Mapping[str, Any], declared: AbstractSet[str]) -> None:
    try:
        extra_of(row, declared)
    except (ValueError, RecursionError):
        raise BadRecord("an unknown field is not JSON") from None


def _with_instants(row: Mapping[str, Any], columns: Sequence[Column]) -> dict[str, Any]:
    """Parse instants in forms of ISO 8601 that the model does not read; the model refuses other texts."""
    prepared = dict(row)
    for column in columns:
        value = prepared.get(column.name)
        if column.kind is Kind.INSTANT and isinstance(value, str):
            prepared[column.name] = instants.parse(value) or value
    return prepared


def _fitting(column: Column, value: object) -> object:
    """Return the value as a frame stores it; some values pass the model but fit no column."""
    match column.kind, value:
        case (_, None):
            return None
        case Kind.JSON, _:
            return _encodable(column, value, canonical_json)
        case Kind.TEXT, str():
            return _encodable(column, value, str)
        case Kind.INTEGER, int() if not -_INTEGER_LIMIT <= value < _INTEGER_LIMIT:
            raise BadRecord(f"{column.name}: out of range")
        case _:
            return value


def _encodable(column: Column, value: object, text: Callable[[object], str]) -> str:
    try:
        written = text(value)
        written.encode()
    except (ValueError, RecursionError):
        raise BadRecord(f"{column.name}: cannot be written in UTF-8") from None
    return written


def _reason(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(
        dict.fromkeys(
            f"{item['loc'][0] if item['loc'] else 'row'}: {_in_words(item['type'])}" for item in problems
        )
    )


def _in_words(kind: str) -> str:
    """Return e.g. `datetime expected` for `datetime_type`; pydantic's own messages may quote values."""
    if kind == "value_error":
        return "impossible value"
    expected = kind.partition("_")[0]
    return f"{expected} expected" if kind.endswith(("_type", "_parsing")) else kind.replace("_", " ")
