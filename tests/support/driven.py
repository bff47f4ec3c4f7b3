"""Plans of discovery, driven by a function in the place of a server."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pipelines.core.errors import RequestRefused
from pipelines.core.pages import Page
from pipelines.core.steps import GetRecords, Learnt, ReadPage

NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)

Answer = Callable[[Mapping[str, str]], Page]


def whole(rows: Sequence[Mapping[str, Any]]) -> Page:
    """Return a page with all rows."""
    return Page(tuple(rows), len(rows), None, None, NOW)


def driven(plan: Any, answers: Answer, *, record: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
    """Answer the requests of a plan; return its value and learnt facts. Each record by id is `record`."""
    learnt: dict[str, Any] = {}
    answer: Any = None
    failure: RequestRefused | None = None
    while True:
        try:
            step = plan.send(answer) if failure is None else plan.throw(failure)
        except StopIteration as finished:
            return finished.value, learnt
        answer = failure = None
        match step:
            case Learnt():
                learnt[step.name] = step.value
            case GetRecords():
                answer = dict.fromkeys(step.ids, record)
            case ReadPage():
                try:
                    answer = answers({name: str(value) for name, value in step.query.items()})
                except RequestRefused as error:
                    failure = error
            case _:
                raise AssertionError(step)
