"""One list of one practice: the rows of the world, and over them the rows that were written since."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import count
from typing import Any, Final
from uuid import uuid4

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vetl_sandbox.resources.resource import LONGEST_NUMBER, Record, Resource, Scene, has_integer_id, instant
from vetl_sandbox.stamps import stamped
from vetl_sandbox.switches import ListSwitches, Order, Switches
from vetl_sandbox.world import World
from vetl_sandbox.world.lives import INSTANT

_SERIALS = count()
_SLICE: Final = 10_000
_DISTANT: Final = datetime(9999, 1, 1, tzinfo=UTC)


class NoSuchRowError(LookupError):
    """Raised for a write to an id that is not in the list."""


class NotFilterableError(ValueError):
    """Raised for a write of something else than text to a field that a filter uses."""

    def __init__(self, field: str, value: object) -> None:
        super().__init__(f"{field} must be text or null, not {value!r}")
        self.field = field


@dataclass(frozen=True)
class Written:
    """A row that was written; the life that was drawn for it has ended.

    `record` is shown as it is, with its unknown fields and wrong types; None: deleted. `derives`: whether fields
    that depend on the time of reading are still derived.
    """

    record: Record | None
    derives: bool = True


@dataclass(frozen=True)
class Matches:
    """Rows that a request asks for, in order, not yet taken out of their list."""

    frame: pl.DataFrame
    places: pl.Series

    def __len__(self) -> int:
        return len(self.places)

    def slice(self, offset: int, size: int) -> pl.DataFrame:
        """Return some of the rows."""
        return self.frame.select(pl.all().gather(self.places.slice(offset, size)))


@dataclass
class Snapshot:
    """A list at one time. `written` are the records that `frame` refers to; `until`: when it next changes."""

    frame: pl.DataFrame
    written: Sequence[Record]
    until: datetime
    switches: Switches
    serial: int = field(default_factory=lambda: next(_SERIALS))
    _ordered: dict[Order, pl.DataFrame] = field(default_factory=dict)

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """The numbers of the drawn rows, which come first in `frame`, rising."""
        return self.frame["number"].drop_nulls().to_numpy()

    def place(self, number: int) -> int | None:
        """Return the place in `frame` of the row with a number."""
        place = int(np.searchsorted(self.numbers, number))
        return place if place < len(self.numbers) and self.numbers[place] == number else None

    def ordered(self, order: Order) -> pl.DataFrame:
        """Return the rows in one of the orders of a list; rows without the time of that order come last."""
        if order not in self._ordered:
            self._ordered[order] = _sorted(self.frame, order)
        return self._ordered[order]

    def matches(self, switches: ListSwitches, chosen: pl.Expr) -> Matches:
        """Return the rows that a filter lets through, in the order of this request."""
        frame = self.ordered(switches.order) if switches.keeps_places else self._shuffled(switches.order)
        places = frame.select(places=pl.int_range(pl.len(), dtype=pl.UInt32).filter(chosen))
        return Matches(frame, places["places"])

    def _shuffled(self, order: Order) -> pl.DataFrame:
        """Return all rows, or rows of the same time, in an order of this request alone."""
        frame = self.frame.sample(fraction=1, shuffle=True, seed=next(_SERIALS))
        return frame if order == "random" else _sorted(frame, order, tied=())


def _sorted(frame: pl.DataFrame, order: Order, tied: Sequence[str] = ("number",)) -> pl.DataFrame:
    """Return rows in an order; `tied`, or else their present order, decides between rows of the same time."""
    if order == "unordered":
        return frame.sort((pl.col("number").fill_null(0) * 48_271 + 11) % 2_147_483_647, maintain_order=True)
    by, _, direction = order.partition("_")
    time = f"{by}_at" if f"{by}_at" in frame.columns else "created_at"
    keys = [key for key in (time, *tied) if key in frame.columns]
    return frame.sort(keys, descending=direction == "desc", nulls_last=True, maintain_order=True)


class Table:
    """The rows of one list of one practice, as they are and as they are shown."""

    def __init__(self, world: World, practice_id: str, resource: Resource) -> None:
        self.resource = resource
        self._world = world
        self._practice_id = practice_id
        self._written: dict[str, Written] = {}
        self._snapshot: Snapshot | None = None

    def scene(self, switches: Switches) -> Scene:
        """Return the people and settings that this practice's rows are shown with."""
        return Scene(self._world.practices[self._practice_id], self._world.people(self._practice_id), switches)

    def snapshot(self, now: datetime, switches: Switches) -> Snapshot:
        """Return the list at `now`; build it only if something has changed."""
        snapshot = self._snapshot
        if snapshot is None or now >= snapshot.until or snapshot.switches is not switches:
            snapshot = self._snapshot = self._draw(now, switches)
        return snapshot

    @property
    def rows_at_hand(self) -> int:
        """Return how many rows are kept as they were when the list was last asked for."""
        return 0 if self._snapshot is None else self._snapshot.frame.height

    def put_away(self) -> None:
        """Drop everything that can be drawn again."""
        self._snapshot = None

    def records(self, rows: pl.DataFrame, snapshot: Snapshot) -> list[Record]:
        """Return rows of a snapshot as records, in their order."""
        drawn = iter(
            self.resource.records(rows.filter(pl.col("written").is_null()), self.scene(snapshot.switches))
        )
        return [
            next(drawn) if place is None else self.stamped(snapshot.written[place], snapshot.switches)
            for place in rows["written"]
        ]

    def stamped(self, record: Record, switches: Switches) -> Record:
        """Return a written record as the list shows it."""
        rendered = stamped(record, switches, self._world.practices[self._practice_id].zone)
        if switches.integer_ids:
            for name, value in rendered.items():
                if has_integer_id(self.resource, name) and isinstance(value, str) and value.isdigit():
                    rendered[name] = int(value)
        return rendered

    def rendered(self, row_id: str, now: datetime, switches: Switches) -> Record:
        """Return the record with an id that is there, as the list shows it."""
        record = self.get(row_id, now, switches)
        assert record is not None
        return self.stamped(record, switches)

    def every_record(self, snapshot: Snapshot) -> Iterator[Record]:
        """Yield all records of a snapshot, oldest first."""
        for rows in snapshot.ordered("created_asc").iter_slices(_SLICE):
            yield from self.records(rows, snapshot)

    def of_client(self, client_id: str, snapshot: Snapshot) -> pl.Expr:
        """Return the rows that belong to one client."""
        place = self._world.people(self._practice_id).place_of.get(client_id, -1)
        written = [n for n, record in enumerate(snapshot.written) if str(record.get("client_id")) == client_id]
        return ((pl.col("client") == place) & pl.col("written").is_null()) | pl.col("written").is_in(written)

    def get(self, row_id: str, now: datetime, switches: Switches) -> Record | None:
        """Return the record with this id, or with this second id if the list has one."""
        snapshot = self.snapshot(now, switches)
        match = self.find(row_id, snapshot)
        return self.records(snapshot.frame.slice(match, 1), snapshot)[0] if isinstance(match, int) else match

    def find(self, row_id: str, snapshot: Snapshot) -> Record | int | None:
        """Return the written record with this id or second id, or the place of the drawn row."""
        second = self.resource.second_id
        for record in snapshot.written:
            if row_id == str(record.get("id")) or (second is not None and row_id == record.get(second[0])):
                return record
        number = self.resource.number_of(row_id)
        if number is not None:
            return snapshot.place(number)
        digits = row_id.removeprefix(second[1]) if second is not None else row_id
        if digits == row_id or not (digits.isascii() and digits.isdigit()) or len(digits) > LONGEST_NUMBER:
            return None
        place = snapshot.place(int(digits))
        return place if place is not None and snapshot.frame["with_partner_id"][place] else None

    def insert(self, record: Mapping[str, Any], now: datetime) -> str:
        """Add a record; fields that are not given are null; ids and times of birth are made.

        Raises:
            NotFilterableError: A field that a filter uses is no text.
        """
        self._check(record)
        made: Record = dict.fromkeys(self.resource.fields)
        made |= {name: now for name in ("created_at", "updated_at", "last_activity_at") if name in made}
        row_id = str(record.get("id") or self._new_id())
        self._write(row_id, Written(made | {"id": row_id} | dict(record), derives="status" not in record))
        return row_id

    def update(self, row_id: str, changes: Mapping[str, Any], now: datetime, switches: Switches) -> Record:
        """Change fields of a record, of the contract or not, and nothing else.

        Raises:
            NoSuchRowError: There is no such record.
            NotFilterableError: A field that a filter uses is no text.
        """
        self._check(changes)
        record = self.get(row_id, now, switches)
        if record is None:
            raise NoSuchRowError(row_id)
        changed = record | dict(changes)
        self._write(str(record["id"]), Written(changed, derives="status" not in changes))
        return changed

    def delete(self, row_id: str, now: datetime, switches: Switches) -> None:
        """Delete a record without a trace.

        Raises:
            NoSuchRowError: There is no such record.
        """
        record = self.get(row_id, now, switches)
        if record is None:
            raise NoSuchRowError(row_id)
        self._write(str(record["id"]), Written(None))

    def _check(self, row: Mapping[str, Any]) -> None:
        for name, dtype in self.resource.filterable.items():
            if isinstance(dtype, pl.Enum) and not isinstance(row.get(name), str | None):
                raise NotFilterableError(name, row[name])

    def _write(self, row_id: str, written: Written) -> None:
        self._written[row_id] = written
        self._snapshot = None

    def _new_id(self) -> str:
        return (
            str(uuid4().int % 10**15) if self.resource.prefix is None else f"{self.resource.prefix}_{uuid4().hex}"
        )

    def _draw(self, now: datetime, switches: Switches) -> Snapshot:
        resource = self.resource
        if resource.name in ("clients", "patients"):
            frame, until = getattr(self._world.people(self._practice_id), resource.name), _DISTANT
        else:
            frame, until = self._world.rows(self._practice_id, resource.name, now)
        frame = resource.derive(frame, now, switches).with_columns(written=pl.lit(None, dtype=pl.UInt32))
        written = self._records_now(now, switches)
        if self._written:
            replaced = [number for row in self._written if (number := resource.number_of(row)) is not None]
            frame = frame.filter(~pl.col("number").is_in(replaced))
            frame = pl.concat([frame, self._index(written)], how="diagonal")
        if resource.expires is not None:
            coming = frame.select(at=resource.expires(switches)).filter(pl.col("at") > now)["at"].min()
            until = min(until, coming) if isinstance(coming, datetime) else until
        return Snapshot(frame, written, until, switches)

    def _records_now(self, now: datetime, switches: Switches) -> list[Record]:
        derive = self.resource.derive_record
        return [
            derive(row.record, now, switches) if derive is not None and row.derives else row.record
            for row in self._written.values()
            if row.record is not None
        ]

    def _index(self, records: Sequence[Record]) -> pl.DataFrame:
        """Return the fields of written records that filters and orders need; values of the wrong type are null."""
        columns = {
            name: pl.Series([_indexed(record.get(name), dtype) for record in records], dtype=dtype, strict=False)
            for name, dtype in self.resource.filterable.items()
        }
        return pl.DataFrame({**columns, "written": pl.Series(range(len(records)), dtype=pl.UInt32)})


def _indexed(value: object, dtype: pl.DataType) -> object:
    if dtype == INSTANT:
        return instant(value)
    if isinstance(dtype, pl.Enum):
        return value if value in dtype.categories else None
    return value
