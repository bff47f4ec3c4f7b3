"""Questions to one list, and what is known of it so far."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from pipelines.core.capabilities import Key
from pipelines.core.endpoint import QueryNames
from pipelines.core.errors import NotFound, RequestRefused
from pipelines.core.pages import Page
from pipelines.core.reading import Reading
from pipelines.core.steps import Plan, ReadPage, do
from pipelines.discovery.finding import Correction, Finding
from pipelines.reading.conventions import Bounds

Asking = Plan[Page | None]
Query = Mapping[str, str]
LARGEST = 100
"""Rows on a page of JSON at most (contract: Limits)."""
SLIGHT = 2
"""Rows by which two answers differ, up to which they are asked for once more."""
VALIDATION = (400, 422)
"""Statuses of a validation error; the contract names the first."""
NO_SUCH_NAME = "vetl_doctor"
"""A parameter that no server has: what is said of it is said of every unknown name."""


@dataclass(slots=True)
class ListKnowledge:
    """What is known of a list so far. `whole` is the query under which it shows every row.

    `names` are proven where their key is in `proven`, else still as configured. `thorough`: more is wanted than
    what reading needs. `answers` are the latest, by their questions.
    """

    reading: Reading
    names: QueryNames
    whole: dict[str, str] = field(default_factory=dict[str, str])
    proven: set[str] = field(default_factory=set[str])
    bounds: Bounds = "none"
    required: dict[str, str] = field(default_factory=dict[str, str])
    """A start that makes no difference, and without which the server refuses the list."""
    taken: tuple[str, Literal["instant", "day"]] | None = None
    """The first name of a start that was taken and made no difference, and in which form."""
    end_in_days: bool = False
    """Ends are taken as days only, of a list whose start is not known to work."""
    page_base: int | None = None
    page_size: int | None = None
    largest: dict[str, str] = field(default_factory=dict[str, str])
    """The parameter that asks for the largest page, where one works."""
    smallest: dict[str, str] = field(default_factory=dict[str, str])
    """The parameter that asks for a page of one row, where one works."""
    thorough: bool = True
    ignored: frozenset[str] = frozenset()
    """Keys of parameters that were ignored under every name when they were last asked for."""
    answers: dict[frozenset[tuple[str, str]], Page | RequestRefused] = field(default_factory=dict[Any, Any])

    @property
    def endpoint(self) -> str:
        """The name of the list."""
        return self.reading.endpoint.name


def ask(knowledge: ListKnowledge, query: Query) -> Asking:
    """One page, or nothing where the server refuses this question.

    Raises:
        PracticeRefused: it answers nothing for this practice.
    """
    answer: Page | RequestRefused
    try:
        answer = yield from do(ReadPage(query, 0, LARGEST, lenient=True))
    except RequestRefused as refusal:
        answer = refusal
    knowledge.answers[frozenset(query.items())] = answer
    return None if isinstance(answer, RequestRefused) else answer


def recall(knowledge: ListKnowledge, query: Query) -> Asking:
    """The answer that this question had, or else gets."""
    if frozenset(query.items()) not in knowledge.answers:
        yield from ask(knowledge, query)
    answer = knowledge.answers[frozenset(query.items())]
    return None if isinstance(answer, RequestRefused) else answer


def still_contrasts(knowledge: ListKnowledge, first: Query, second: Query, *, rises: bool) -> Plan[bool]:
    """Return whether the second of two queries still shows more rows than the first (`rises`), or fewer.

    Both are asked once more, in the same order. One contrast proves little if it is a row or two, which may have
    come or gone by themselves: an end that was ignored gave 0 rows, and then a row came.
    """
    before = yield from ask(knowledge, first)
    after = yield from ask(knowledge, second)
    if before is None or after is None:
        return False
    more, fewer = (after, before) if rises else (before, after)
    return more.total_count > fewer.total_count


def is_slight(wide: Page, narrow: Page) -> bool:
    """Return whether two answers differ by so few rows that these may have come or gone by themselves."""
    return wide.total_count - narrow.total_count <= SLIGHT


def refusal_of(knowledge: ListKnowledge, query: Query) -> Plan[RequestRefused | None]:
    """How the server refuses a question, where it does."""
    yield from recall(knowledge, query)
    answer = knowledge.answers[frozenset(query.items())]
    return answer if isinstance(answer, RequestRefused) else None


def fields_at_fault(knowledge: ListKnowledge) -> Plan[Sequence[str]]:
    """The parameters that the server asks for when it is asked for nothing in particular.

    Raises:
        NotFound, RequestRefused: it has no such list.
    """
    refusal = yield from refusal_of(knowledge, {})
    if refusal is None:
        return ()
    if isinstance(refusal, NotFound) or (not refusal.fields and refusal.status not in VALIDATION):
        raise refusal
    return [name for name, _ in refusal.fields if name]


def is_unknown(knowledge: ListKnowledge, name: str, query: Query) -> Plan[bool]:
    """Whether the refusal of a query says of a parameter what it says of one that does not exist."""
    said = _said_of(name, (yield from refusal_of(knowledge, query)))
    return said is not None and said == _said_of(
        NO_SUCH_NAME, (yield from refusal_of(knowledge, {NO_SUCH_NAME: query[name]}))
    )


def _said_of(name: str, refusal: RequestRefused | None) -> str | None:
    fields = refusal.fields if refusal else ()
    return next((message.replace(name, "") for field, message in fields if field == name), None)


def name_finding(knowledge: ListKnowledge, key: Key, configured: str, evidence: str) -> Finding:
    """A query name that was proven: as configured, or another one."""
    name = str(getattr(knowledge.names, key))
    if name == configured:
        return Finding(knowledge.endpoint, key, "ok", name, evidence)
    return Finding(
        knowledge.endpoint,
        key,
        "contradicts",
        name,
        f"{configured} is not honoured; with {name}, {evidence}",
        f'set {key} = "{name}" in [partner.parameters.{knowledge.endpoint}]',
        Correction(key, name),
    )


def likely_first(names: Sequence[str], works: Callable[[Sequence[str]], Plan[bool | None]]) -> Plan[list[str]]:
    """The names in the order in which to try them: first the one that halves of all of them lead to.

    `works` asks with several names together whether one of them changes the answer; nothing where that is refused.
    Five requests find one of 31 names, which is proven by itself afterwards.
    """
    left = list(names)
    while len(left) > 1:
        half = left[: len(left) // 2]
        answer = yield from works(half)
        if answer is None:
            return list(names)
        left = half if answer else left[len(half) :]
    return candidates(left, names)


def candidates(*groups: Iterable[str]) -> list[str]:
    """Names to try, in this order, each once."""
    return list(dict.fromkeys(name for group in groups for name in group))


def written(at: datetime, bounds: Bounds, *, sharp: bool = False) -> str:
    """A bound as text: an instant (to the microsecond where `sharp`), or the UTC day it is on."""
    at = at.astimezone(UTC)
    if bounds == "day":
        return at.date().isoformat()
    text = at.replace(tzinfo=None).isoformat(timespec="microseconds" if sharp else "seconds")
    return f"{text}Z"


def whole_bounds(reading: Reading, bounds: Bounds) -> tuple[str, str]:
    """From the start of history to a time by which every row was updated."""
    past = reading.local_midnight(reading.history_start)
    return written(past, bounds), written(reading.now + timedelta(days=2), bounds)


def far_ahead(now: datetime) -> datetime:
    """When no row can have been updated yet."""
    return now + timedelta(days=400)
