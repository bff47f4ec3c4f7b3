"""What the loop needs of client and warehouse, so that it can be read, and tried, without either."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from pipelines.core.endpoint import Endpoint
from pipelines.core.pages import CallsPage, Changes, Page, Row
from pipelines.core.steps import Query, Question, Save

CsvParser = Callable[..., CallsPage]
Work = tuple[str, Endpoint, Sequence[Save]]
"""What is saved of one list: the practice's id, the list, the saves."""
Asked = tuple[str, Endpoint, Question]
"""What is asked of one list: the practice's id, the list, the question."""


class Traffic(Protocol):
    """HTTP requests sent, those among them that repeated an earlier one, and the bytes of their answers."""

    requests: int
    retries: int
    bytes: int


class Source(Protocol):
    """The partner interface, as `partner.client` speaks it."""

    async def page(self, practice_id: str, path: str, query: Query, *, check: Callable[[Page], None]) -> Page:
        """One page of a JSON list; `check` may refuse it as torn, then it is read again."""
        ...

    async def calls(self, practice_id: str, query: Query, *, parse: CsvParser) -> CallsPage:
        """One page of the phone-call CSV, parsed; `parse` may refuse it as torn."""
        ...

    async def record(self, practice_id: str, path: str, record_id: str) -> Row | None:
        """One row by id, `None` where the source has none."""
        ...

    def traffic(self, practice_id: str, path: str) -> Traffic:
        """What was asked so far for one path of a practice."""
        ...


class Store(Protocol):
    """The warehouse, as `loading.warehouse` keeps it."""

    def prepared(self, practice_id: str, endpoint: Endpoint, saves: Sequence[Save]) -> list[Save]:
        """The same saves, with what can be done of the work before it is their turn to be written."""
        ...

    def commit_all(self, run_id: str, works: Sequence[Work]) -> list[Changes]:
        """Do the work of all these lists in one transaction, or none of it."""
        ...

    def answer_all(self, asked: Sequence[Asked]) -> list[Any]:
        """Answer strategies' questions, in order."""
        ...

    def cursor(self, practice_id: str, endpoint_name: str) -> dict[str, Any] | None:
        """The cursor of the last commit."""
        ...

    def capabilities(self, practice_id: str, endpoint_name: str) -> dict[str, Any]:
        """What the source was seen to do."""
        ...

    def counts(self, practices: Sequence[str], endpoint: Endpoint) -> Mapping[str, tuple[int, int]]:
        """By practice: how many rows the source has, as far as is known here, and how many are in quarantine."""
        ...
