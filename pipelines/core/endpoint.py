"""What a synced list of the partner interface is: a frozen declaration, and the columns that follow from it."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Union, get_args, get_origin

from pydantic import BaseModel

from pipelines.core.records import Instant, KnownValues


class Kind(StrEnum):
    """The type of a raw column, by its DuckDB name."""

    TEXT = "VARCHAR"
    INSTANT = "TIMESTAMPTZ"
    LOCAL = "TIMESTAMP"
    DATE = "DATE"
    BOOLEAN = "BOOLEAN"
    INTEGER = "INTEGER"
    JSON = "JSON"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a raw table. `values` are those that the contract lists, where it lists them."""

    name: str
    kind: Kind
    values: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class QueryNames:
    """The query parameters of one list. The contract does not show them for most lists: these are defaults."""

    start: str = "start_date"
    end: str = "end_date"
    page: str = "page"
    per_page: str = "per_page"
    status: str = "status"


class Strategy:
    """How a list is read, and what follows from that for those that do not read it.

    `has_list`: its rows come page by page; `has_ids`: each has an id; `has_range`: a span of `updated_at` can be
    asked for; `is_received`: by webhook.
    """

    __slots__ = ()
    has_list: ClassVar[bool] = True
    has_ids: ClassVar[bool] = True
    has_range: ClassVar[bool] = False
    is_received: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class DateWindows(Strategy):
    """Filter by whole practice-local days, rows without id: days are replaced whole (phone calls)."""

    has_ids: ClassVar[bool] = False

    csv_page_size: int = 5000
    open_states: tuple[str, ...] = ("pending", "queued", "ringing", "in_progress")


@dataclass(frozen=True, slots=True)
class UpdatedWindows(Strategy):
    """Filter by `updated_at`. Rows in `derived_from` change status without `updated_at` moving."""

    has_range: ClassVar[bool] = True

    derived_from: str | None = None


@dataclass(frozen=True, slots=True)
class NewestFirst(Strategy):
    """No date filter, most recent first; a row is final once its status is not among `open_statuses`."""

    statuses: tuple[str, ...]
    open_statuses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FullScan(Strategy):
    """No date filter and no known order."""

    statuses: tuple[str, ...]
    open_statuses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ByReference(Strategy):
    """No usable list: rows are fetched by the ids that other raw tables mention, as (table, column)."""

    has_list: ClassVar[bool] = False

    mentions: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Received(Strategy):
    """No list at all: rows come by webhook, and of two with one key the first stays. `path` is the receiver's."""

    has_list: ClassVar[bool] = False
    is_received: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One list that vetl keeps in step. Asset, raw table, CLI name and conformance tests follow from it.

    `path` is relative to `/services/core/open_api/v1`, and may hold `{practice_id}`; `record` is the model of a
    row of `raw.<table>`. `may_be_withdrawn`: the contract proposes it only.
    """

    name: str
    path: str
    record: type[BaseModel]
    strategy: Strategy
    table: str
    key: tuple[str, ...] = ("id",)
    page_size: int = 100
    names: QueryNames = QueryNames()
    may_be_withdrawn: bool = False

    def path_of(self, practice_id: str) -> str:
        """Where the platform has this list of a practice."""
        return self.path.replace("{practice_id}", practice_id)

    def columns(self) -> tuple[Column, ...]:
        """The columns of the raw table that the source fills, in the model's order."""
        return tuple(
            _column(name, field.annotation, tuple(field.metadata))
            for name, field in self.record.model_fields.items()
        )


_KINDS: dict[Any, Kind] = {
    str: Kind.TEXT,
    datetime: Kind.LOCAL,
    date: Kind.DATE,
    bool: Kind.BOOLEAN,
    int: Kind.INTEGER,
    list: Kind.JSON,
    dict: Kind.JSON,
}


def _column(name: str, annotation: Any, metadata: tuple[Any, ...]) -> Column:  # noqa: ANN401 - a type form
    values = next((frozenset(item.values) for item in metadata if isinstance(item, KnownValues)), None)
    bare, inner = _bare(annotation)
    aware = any(item in (*metadata, *inner) for item in get_args(Instant)[1:])
    kind = Kind.INSTANT if bare is datetime and aware else _KINDS[bare]
    return Column(name, kind, values)


def _bare(annotation: Any) -> tuple[Any, tuple[Any, ...]]:  # noqa: ANN401 - a type form
    """The plain type under `X | None` and `Annotated`, with the annotations met on the way."""
    origin = get_origin(annotation)
    if origin is Annotated:
        bare, inner = _bare(get_args(annotation)[0])
        return bare, (*inner, *get_args(annotation)[1:])
    if origin in (Union, UnionType):
        return _bare(next(item for item in get_args(annotation) if item is not NoneType))
    return origin or annotation, ()
