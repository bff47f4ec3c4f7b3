"""The declaration of a list of the partner interface, and the columns of its raw table.

Building blocks of the record models of the lists.

A model declares the columns of a raw table. Every field but the id is nullable, because the interface marks few
fields as required, and a row must be stored even if a field is missing. Unknown fields and unknown enum values are
accepted; `KnownValues` names the values of the contract, so that a new value is reported.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from vetl.core.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class KnownValues:
    """The values of an enum that the contract lists; other values are stored and reported."""

    values: tuple[str, ...]


def known(*values: str) -> KnownValues:
    """Return the annotation with the values of an enum."""
    return KnownValues(values)


MOST_EXACT = 2.0**53
"""From here on different numbers of a JSON text are the same float; `1e400` and `Infinity` are no number."""


def is_exact(value: object) -> bool:
    """Return whether the text of a number is that number and no other; other values are what they are."""
    return not isinstance(value, float) or abs(value) < MOST_EXACT


def _as_text(value: object) -> object:
    """Return a number as a string."""
    # Ids and labels are strings, but in one answer of the contract an appointment's id is an integer.
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not is_exact(value):
            raise ValueError("no exact number")
        return str(value)
    return value


def _as_utc(value: datetime) -> datetime:
    """Return a time in UTC; a time without an offset is in UTC already."""
    # The contract says ISO 8601 and names no zone.
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise ValueError("beyond the calendar") from None


Text = Annotated[str, BeforeValidator(_as_text)]
Instant = Annotated[datetime, AfterValidator(_as_utc)]


class Record(BaseModel):
    """A row of one list; fields that are not in the contract are in `model_extra`."""

    model_config = ConfigDict(extra="allow", frozen=True)


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
    """A column of a raw table; `values` are the values that the contract lists, if it lists them."""

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
    """How a list is read, and the properties of the list that other packages need.

    `has_list`: the rows come page by page. `has_ids`: each row has an id. `has_range`: a request may select a
    range of `updated_at`. `is_received`: the rows come by webhook.
    """

    __slots__ = ()
    has_list: ClassVar[bool] = True
    has_ids: ClassVar[bool] = True
    has_range: ClassVar[bool] = False
    is_received: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class DateWindows(Strategy):
    """A filter by practice-local days and rows without ids, so whole days are replaced (phone calls)."""

    has_ids: ClassVar[bool] = False

    csv_page_size: int = 5000
    open_states: tuple[str, ...] = ("pending", "queued", "ringing", "in_progress")


@dataclass(frozen=True, slots=True)
class UpdatedWindows(Strategy):
    """A filter by `updated_at`. The status `derived_from` may become one of `final` while `updated_at` stays."""

    has_range: ClassVar[bool] = True

    derived_from: str | None = None
    final: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewestFirst(Strategy):
    """No date filter, the most recent row first; a row is final if its status is not in `open_statuses`."""

    statuses: tuple[str, ...]
    open_statuses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FullScan(Strategy):
    """No date filter and no known order."""

    statuses: tuple[str, ...]
    open_statuses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ByReference(Strategy):
    """No usable list: rows are fetched by the ids in `mentions`, pairs of another raw table and its column."""

    has_list: ClassVar[bool] = False

    mentions: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Received(Strategy):
    """No list at all: rows come by webhook to `path`; if two rows have one key, the first stays."""

    has_list: ClassVar[bool] = False
    is_received: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One list that vetl syncs. Its asset, raw table, CLI name and conformance tests follow from this declaration.

    `path` is relative to `/services/core/open_api/v1` and may contain `{practice_id}`; `record` is the model of a
    row of `raw.<table>`. `may_be_withdrawn`: the contract only proposes the list.
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

    def __post_init__(self) -> None:
        """Raise `ConfigurationError` for a field that can be no raw column, or a list without dates and statuses.

        The totals of the statuses prove a list without dates whole.
        """
        self.columns()
        strategy, fields = self.strategy, self.record.model_fields
        if isinstance(strategy, NewestFirst | FullScan) and not (strategy.statuses and "status" in fields):
            kind = type(strategy).__name__
            raise ConfigurationError(f"{self.name}: {kind} needs `statuses`, and the record a field `status`")

    def path_of(self, practice_id: str) -> str:
        """Return the path of this list for a practice."""
        return self.path.replace("{practice_id}", practice_id)

    def columns(self) -> tuple[Column, ...]:
        """Return the columns of the raw table that the source fills, in the order of the model."""
        return columns_of(self.record)


def columns_of(record: type[BaseModel]) -> tuple[Column, ...]:
    """Return the columns of a record, in the order of the model."""
    return tuple(
        _column(name, field.annotation, tuple(field.metadata)) for name, field in record.model_fields.items()
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
    if bare not in _KINDS:
        types = "Text (for decimals, too), Instant, date, int, bool, list or dict"
        raise ConfigurationError(f"the field {name}: a raw column cannot be {bare}; it can be {types}")
    kind = Kind.INSTANT if bare is datetime and aware else _KINDS[bare]
    return Column(name, kind, values)


def _bare(annotation: Any) -> tuple[Any, tuple[Any, ...]]:  # noqa: ANN401 - a type form
    """Return the plain type inside `X | None` and `Annotated`, and the annotations around it."""
    origin = get_origin(annotation)
    if origin is Annotated:
        bare, inner = _bare(get_args(annotation)[0])
        return bare, (*inner, *get_args(annotation)[1:])
    if origin in (Union, UnionType):
        return _bare(next(item for item in get_args(annotation) if item is not NoneType))
    return origin or annotation, ()
