"""Instants as text, in the switched format."""

from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any

from vetl_sandbox.switches import Switches, TimestampFormat


def stamp(at: datetime, form: TimestampFormat = "milliseconds", zone: tzinfo = UTC) -> str:
    """Return an instant in one of the switched formats; the practice-local ones use `zone`."""
    match form:
        case "practice":
            return at.astimezone(zone).isoformat(timespec="milliseconds")
        case "practice_without_offset":
            return at.astimezone(zone).replace(tzinfo=None).isoformat(timespec="milliseconds")
        case "without_offset":
            return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")
        case "offset":
            return at.astimezone(UTC).isoformat(timespec="milliseconds")
        case _:
            return at.astimezone(UTC).isoformat(timespec=form).removesuffix("+00:00") + "Z"


def stamped(record: Mapping[str, Any], switches: Switches, zone: tzinfo = UTC) -> dict[str, Any]:
    """Return a record with its instants as text."""
    return {
        name: stamp(value, switches.timestamps, zone) if isinstance(value, datetime) else value
        for name, value in record.items()
    }
