"""The declaration of a list, and the code that turns rows of the world into records of the contract."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import polars as pl

from vetl_sandbox.openapi.shapes import Schema
from vetl_sandbox.stamps import stamp
from vetl_sandbox.switches import Switches
from vetl_sandbox.world.ids import number_of, opaque
from vetl_sandbox.world.lives import INSTANT
from vetl_sandbox.world.people import People
from vetl_sandbox.world.practices import Practice

Record = dict[str, Any]

_FORMATS: Final = {
    "milliseconds": "%Y-%m-%dT%H:%M:%S%.3fZ",
    "seconds": "%Y-%m-%dT%H:%M:%SZ",
    "microseconds": "%Y-%m-%dT%H:%M:%S%.6fZ",
    "offset": "%Y-%m-%dT%H:%M:%S%.3f+00:00",
    "without_offset": "%Y-%m-%dT%H:%M:%S%.3f",
}
LONGEST_NUMBER: Final = 18
_WITH_INTEGER_IDS: Final = {"client_id", "patient_id", "appointment_id"}


@dataclass(frozen=True)
class Scene:
    """The people and settings that a practice's rows are shown with."""

    practice: Practice
    people: People
    switches: Switches


def _as_drawn(rows: pl.DataFrame, now: datetime, switches: Switches) -> pl.DataFrame:  # noqa: ARG001 - see Resource.derive
    return rows


@dataclass(frozen=True)
class Resource:
    """One list of the partner interface.

    Attributes:
        name: Its name in the truth, the switches and the control interface.
        path: Its path below the interface's root.
        record: The name of its records in the description.
        section: Its section of the description.
        fields: The fields of a record, in the contract's order.
        render: Makes from rows of the world a frame with these fields but the id, times still as instants.
        filterable: Fields that filters and orders need, under the same names in rows and records.
        schemas: The schemas of those fields whose names do not give their types.
        prefix: The start of its ids; None if ids are numbers.
        statuses: Values of its status filter, if it has one.
        has_range: Whether a request may select a range of `updated_at`.
        has_get: Whether a record can be read by its id.
        has_total_pages: Whether a page tells how many pages there are.
        second_id: Another field that identifies a row, and the start of its values.
        derive: Adds to rows the fields that depend on the time of reading.
        derive_record: The same for one record that was written.
        expires: When a row changes without a new version, for lists with `derive`.
    """

    name: str
    path: str
    record: str
    section: str
    fields: Sequence[str]
    render: Callable[[pl.DataFrame, Scene], pl.DataFrame]
    filterable: Mapping[str, pl.DataType]
    schemas: Mapping[str, Schema] = field(default_factory=dict[str, Schema])
    prefix: str | None = None
    statuses: Sequence[str] = ()
    has_range: bool = False
    has_get: bool = True
    has_total_pages: bool = True
    second_id: tuple[str, str] | None = None
    derive: Callable[[pl.DataFrame, datetime, Switches], pl.DataFrame] = _as_drawn
    derive_record: Callable[[Record, datetime, Switches], Record] | None = None
    expires: Callable[[Switches], pl.Expr] | None = None

    def records(self, rows: pl.DataFrame, scene: Scene) -> list[Record]:
        """Return rows as records of the contract, with times and ids as the switches want them."""
        frame = self.render(rows, scene).with_columns(self._ids(rows)).select(self.fields)
        frame = frame.with_columns(_times(frame, scene))
        if scene.switches.integer_ids:
            numbers = [name for name in self.fields if has_integer_id(self, name)]
            frame = frame.with_columns(pl.col(name).cast(pl.Int64) for name in numbers)
        return frame.to_dicts()

    def _ids(self, rows: pl.DataFrame) -> pl.Series:
        numbers = rows["number"]
        if self.prefix is None:
            return numbers.cast(pl.String).alias("id")
        return pl.Series("id", [opaque(self.prefix, number) for number in numbers], dtype=pl.String)

    def number_of(self, text: str) -> int | None:
        """Return the number behind an id; None if it cannot be an id of this list."""
        if self.prefix is not None:
            return number_of(self.prefix, text)
        return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER else None


def _times(frame: pl.DataFrame, scene: Scene) -> list[pl.Series] | pl.Expr:
    """Return the instants as text; Python's rules of zones make local times."""
    form = scene.switches.timestamps
    if form in _FORMATS:
        return pl.col(INSTANT).dt.strftime(_FORMATS[form])
    return [
        pl.Series(times.name, [at and stamp(at, form, scene.practice.zone) for at in times], dtype=pl.String)
        for times in frame.select(pl.col(INSTANT))
    ]


def has_integer_id(resource: Resource, field: str) -> bool:
    """Return whether a field is an id that is shown as an integer if `integer_ids` says so."""
    return field in _WITH_INTEGER_IDS or (field == "id" and resource.prefix is None)


def with_people(rows: pl.DataFrame, people: People) -> pl.DataFrame:
    """Return rows with the columns of their client and patient beside them, as `client_*` and `patient_*`."""
    clients = people.clients.select(pl.all().gather(rows["client"]).name.prefix("client_"))
    patients = people.patients.select(pl.all().gather(rows["patient"]).name.prefix("patient_"))
    return pl.concat([rows, clients, patients], how="horizontal")


def text_id(column: str) -> pl.Expr:
    """Return a number as the id that partners see."""
    return pl.col(column).cast(pl.String)


def instant(value: object) -> datetime | None:
    """Return a time stamp of a written record, None if it has none."""
    if isinstance(value, datetime):
        return value
    try:
        parsed = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return parsed if parsed is None or parsed.tzinfo else parsed.replace(tzinfo=UTC)
