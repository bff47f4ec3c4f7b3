"""Read lists as pages of typed records."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from vetl.core.errors import ContractBroken
from vetl.core.pages import Row
from vetl.partner.client import PartnerClient
from vetl.partner.protocol import Query

T = TypeVar("T", bound=BaseModel)
LARGEST = 100


@dataclass(frozen=True, slots=True)
class ListParameters:
    """Names of a list's query parameters. The contract does not show them all; `vetl doctor` finds them."""

    start: str = "start_date"
    end: str = "end_date"
    status: str = "status"
    page: str = "page"
    per_page: str = "per_page"
    first_page: int = 0


@dataclass(frozen=True, slots=True)
class Records(Generic[T]):
    """One page. `total_count` is the number of records in the whole list with the same filters."""

    records: tuple[T, ...]
    total_count: int
    server_time: datetime


async def pages(
    client: PartnerClient,
    practice_id: str,
    path: str,
    query: Mapping[str, str | list[str] | None],
    model: type[T],
    names: ListParameters,
    *,
    per_page: int = LARGEST,
) -> AsyncIterator[Records[T]]:
    """Yield all pages of a list. While it changes, a row may come twice or never; `vetl sync` avoids that."""
    filters: dict[str, str | list[str]] = {name: value for name, value in query.items() if value}
    seen, number = 0, names.first_page
    while True:
        numbered: Query = {**filters, names.page: str(number), names.per_page: str(per_page)}
        page = await client.page(practice_id, path, numbered)
        yield Records(tuple(typed(model, path, row) for row in page.rows), page.total_count, page.server_time)
        seen, number = seen + len(page.rows), number + 1
        if not page.rows or seen >= page.total_count:
            return


def typed(model: type[T], label: str, row: Row) -> T:
    """Return a record as its model. Unknown fields and enum values are accepted.

    Raises:
        ContractBroken: a field does not fit the contract; the message names the field and not its value.
    """
    try:
        return model.model_validate(row)
    except ValidationError as error:
        fields = sorted({str(item["loc"][0]) for item in error.errors(include_input=False) if item["loc"]})
        raise ContractBroken(f"{label}: a record has unusable {', '.join(fields) or 'content'}") from None


def as_text(bound: datetime | date | None) -> str | None:
    """Return a bound in ISO 8601: a date unchanged, an instant in UTC (a naive one counts as UTC)."""
    if not isinstance(bound, datetime):
        return bound.isoformat() if bound else None
    aware = bound.replace(tzinfo=UTC) if bound.tzinfo is None else bound.astimezone(UTC)
    return aware.isoformat().replace("+00:00", "Z")
