"""Lists as pages of typed records, one after another."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from pipelines.core.errors import ContractBroken
from pipelines.core.pages import Row
from pipelines.partner.client import PartnerClient
from pipelines.partner.protocol import Query

T = TypeVar("T", bound=BaseModel)
LARGEST = 100


@dataclass(frozen=True, slots=True)
class Names:
    """How one server asks for a list, where the contract does not show it; `vetl doctor` finds out."""

    start: str = "start_date"
    end: str = "end_date"
    status: str = "status"
    page: str = "page"
    per_page: str = "per_page"
    first_page: int = 0


@dataclass(frozen=True, slots=True)
class Records(Generic[T]):
    """One page. `total_count` is the number of records of the whole list under the same filters."""

    records: tuple[T, ...]
    total_count: int
    server_time: datetime


async def pages(
    client: PartnerClient,
    practice_id: str,
    path: str,
    query: Mapping[str, str | list[str] | None],
    model: type[T],
    names: Names,
    *,
    per_page: int = LARGEST,
) -> AsyncIterator[Records[T]]:
    """All pages of a list. While it moves, a row may be met twice or not at all: only `vetl sync` proves more."""
    asked: dict[str, str | list[str]] = {name: value for name, value in query.items() if value}
    seen, number = 0, names.first_page
    while True:
        numbered: Query = {**asked, names.page: str(number), names.per_page: str(per_page)}
        page = await client.page(practice_id, path, numbered)
        yield Records(tuple(typed(model, path, row) for row in page.rows), page.total_count, page.server_time)
        seen, number = seen + len(page.rows), number + 1
        if not page.rows or seen >= page.total_count:
            return


def typed(model: type[T], asked: str, row: Row) -> T:
    """A record as its model; unknown fields and enum values pass.

    Raises:
        ContractBroken: a field is not what the contract says; the message names the field, not its value.
    """
    try:
        return model.model_validate(row)
    except ValidationError as error:
        fields = sorted({str(item["loc"][0]) for item in error.errors(include_input=False) if item["loc"]})
        raise ContractBroken(f"{asked}: a record has unusable {', '.join(fields) or 'content'}") from None


def as_text(bound: datetime | date | None) -> str | None:
    """A bound in ISO 8601: a date as it is, an instant in UTC (naive ones are taken as UTC)."""
    if not isinstance(bound, datetime):
        return bound.isoformat() if bound else None
    aware = bound.replace(tzinfo=UTC) if bound.tzinfo is None else bound.astimezone(UTC)
    return aware.isoformat().replace("+00:00", "Z")
