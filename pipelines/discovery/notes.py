"""What the checks learn, kept in memory until all are done: they need no warehouse, and wait for none."""

from collections.abc import Sequence
from typing import Any

from pipelines.core.endpoint import Endpoint
from pipelines.core.pages import Changes
from pipelines.core.steps import Learnt, Question, Save


class Notes:
    """Stands where `sync` has the warehouse: takes what was learnt, and knows nothing beforehand."""

    def __init__(self) -> None:
        self.learnt: dict[tuple[str, str], list[Learnt]] = {}

    def commit_all(self, run_id: str, works: Sequence[tuple[str, Endpoint, Sequence[Save]]]) -> list[Changes]:  # noqa: ARG002 - as the warehouse takes it
        """Keep what was learnt of these lists."""
        for practice_id, endpoint, saves in works:
            kept = self.learnt.setdefault((practice_id, endpoint.name), [])
            kept.extend(item for item in saves if isinstance(item, Learnt))
        return [Changes()] * len(works)

    def answer_all(self, asked: Sequence[tuple[str, Endpoint, Question]]) -> list[Any]:
        """No check asks what is here."""
        raise AssertionError(f"a check asks the warehouse: {asked}")

    def cursor(self, practice_id: str, endpoint_name: str) -> dict[str, Any] | None:  # noqa: ARG002 - as above
        """Nothing was read before."""
        return None

    def capabilities(self, practice_id: str, endpoint_name: str) -> dict[str, Any]:  # noqa: ARG002 - as above
        """Nothing is believed beforehand."""
        return {}

    def counts(self, practices: Sequence[str], endpoint: Endpoint) -> dict[str, tuple[int, int]]:  # noqa: ARG002 - as above
        """Nothing is stored, nothing set aside."""
        return {}
