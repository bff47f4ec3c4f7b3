"""Protocols of the client and the warehouse: the engine is read and tested without either of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from vetl.core.endpoint import Endpoint
from vetl.core.pages import CallsPage, Changes, Page, Row
from vetl.core.steps import Query, Question, Save

CsvParser = Callable[..., CallsPage]
Work = tuple[str, Endpoint, Sequence[Save]]
"""The saves of one list: the id of the practice, the list, the saves."""
ListQuestion = tuple[str, Endpoint, Question]
"""A question about one list: the id of the practice, the list, the question."""


class Traffic(Protocol):
    """HTTP requests that were sent, how many of them were retries, and the bytes of their answers."""

    requests: int
    retries: int
    bytes: int


class Source(Protocol):
    """The partner interface; `partner.client` implements it."""

    async def page(self, practice_id: str, path: str, query: Query, *, check: Callable[[Page], None]) -> Page:
        """Return one page of a JSON list. If `check` rejects the page as torn, it is read again."""
        ...

    async def calls(self, practice_id: str, query: Query, *, parse: CsvParser) -> CallsPage:
        """Return one parsed page of the phone-call CSV. If `parse` rejects it as torn, it is read again."""
        ...

    async def record(self, practice_id: str, path: str, record_id: str) -> Row | None:
        """Return the row with this id, `None` if the source has none."""
        ...

    def traffic(self, practice_id: str, path: str) -> Traffic:
        """Return the traffic so far for one path of a practice."""
        ...


class Store(Protocol):
    """The warehouse; `store.warehouse` implements it."""

    def prepared(self, practice_id: str, endpoint: Endpoint, saves: Sequence[Save]) -> list[Save]:
        """Return the same saves, after the work that can be done before they are written."""
        ...

    def commit_all(self, run_id: str, works: Sequence[Work]) -> list[Changes]:
        """Commit the saves of all these lists in one transaction, or none of them."""
        ...

    def answer_all(self, list_questions: Sequence[ListQuestion]) -> list[Any]:
        """Return the answers to the questions of strategies, in order."""
        ...

    def cursor(self, practice_id: str, endpoint_name: str) -> dict[str, Any] | None:
        """Return the cursor of the last commit."""
        ...

    def capabilities(self, practice_id: str, endpoint_name: str) -> dict[str, Any]:
        """Return the observed behaviour of the source for this list."""
        ...

    def counts(self, practices: Sequence[str], endpoint: Endpoint) -> Mapping[str, tuple[int, int]]:
        """Return for each practice how many rows are stored and not deleted, and how many are in quarantine."""
        ...
