"""Requests to one list, the knowledge of it that they add up to, and the findings that they prove."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from vetl.core.endpoint import DateWindows, QueryNames
from vetl.core.errors import NotFound, RequestRefused, TooSlow
from vetl.core.list_read import Key, Reading
from vetl.core.pages import Page
from vetl.core.steps import Plan, ReadPage, do
from vetl.discovery.conventions import Bounds, format_bound, whole_range

State = Literal["ok", "contradicts", "ignored", "refused", "unknown", "note"]
"""ok: as configured; contradicts: the server differs from the configuration; ignored: the server has no working
form of this parameter; refused: the platform does not answer; unknown: too few rows to decide; note: for
information."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A value that `vetl.toml` should have: a query name of a list, or one of the keys in `jobs.checkup`."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `found` is the answer in a word or two, `evidence` the observation behind it."""

    endpoint: str
    check: str
    state: State
    found: str
    evidence: str
    remedy: str = ""
    correction: Correction | None = None


Findings = Plan[list[Finding]]


PageProbe = Plan[Page | None]
Query = Mapping[str, str]
LARGEST = 100
"""Most rows on a page of JSON (contract: Limits)."""
SLIGHT = 2
"""Difference in rows between two answers up to which both are requested once more."""
TWICE = ", seen there and back"
"""The end of the evidence of a slight contrast, which was seen twice in turn: A, B, A, B."""
VALIDATION = (400, 422)
"""HTTP statuses of a validation error; the contract shows 400 only."""
TOO_SLOW = 504
"""The status of a query that a gateway does not wait for."""
NO_SUCH_NAME = "vetl_doctor"
"""A parameter that no server has, to see how a server answers an unknown name."""


@dataclass(slots=True)
class ListKnowledge:
    """The knowledge of a list so far.

    `whole` is the query that returns every row. A name in `names` is proven if its key is in `proven`, and as
    configured otherwise. `thorough` asks for findings beyond those that a read needs. `answers` holds the latest
    answer to each query.
    """

    reading: Reading
    names: QueryNames
    whole: dict[str, str] = field(default_factory=dict[str, str])
    proven: set[str] = field(default_factory=set[str])
    bounds: Bounds = "none"
    refuses_future: bool = False
    """The server refuses bounds in the future."""
    most_days: int | None = None
    """The server refuses a longer range."""
    required: dict[str, str] = field(default_factory=dict[str, str])
    """A start that has no effect, but without which the server refuses the list."""
    accepted_start: tuple[str, Literal["instant", "day"]] | None = None
    """The first name of a start that the server accepted without effect, and the form of its value."""
    end_in_days: bool = False
    """The server accepts ends as days only, on a list for which no working start is known."""
    page_base: int | None = None
    page_size: int | None = None
    largest: dict[str, str] = field(default_factory=dict[str, str])
    """The query of the largest page, if a page size works."""
    smallest: dict[str, str] = field(default_factory=dict[str, str])
    """The query of a page of one row, if a page size works."""
    thorough: bool = True
    ignored: frozenset[str] = frozenset()
    """Keys of parameters that the server ignored under every name at the last check."""
    answers: dict[frozenset[tuple[str, str]], Page | RequestRefused] = field(default_factory=dict[Any, Any])

    @property
    def endpoint(self) -> str:
        """Return the name of the list."""
        return self.reading.endpoint.name

    @property
    def has_shown_names(self) -> bool:
        """Return whether the contract shows the names, so that no others are tried."""
        return isinstance(self.reading.endpoint.strategy, DateWindows)

    def widest(self, form: Bounds) -> tuple[str, str]:
        """Return the bounds of the widest range that the server accepts, in this form."""
        past, late = self._range(form)
        return format_bound(past, form), format_bound(late, form)

    @property
    def begun(self) -> datetime:
        """Return the start of the widest range."""
        return self._range("instant")[0]

    def _range(self, form: Bounds) -> tuple[datetime, datetime]:
        return whole_range(self.reading, form, refuses_future=self.refuses_future, most_days=self.most_days)

    def finding(
        self,
        check: str,
        state: State,
        found: str,
        evidence: str,
        remedy: str = "",
        correction: Correction | None = None,
    ) -> Finding:
        """Return a finding about this list."""
        return Finding(self.endpoint, check, state, found, evidence, remedy, correction)

    def ask(self, query: Query) -> PageProbe:
        """Read one page; return `None` if the server refuses this query.

        A query that is too slow is refused, too, if the server has answered others. Raise `PracticeRefused` if the
        server answers nothing for this practice.
        """
        answer: Page | RequestRefused
        try:
            answer = yield from do(ReadPage(query, 0, LARGEST, lenient=True, divisible=True))
        except RequestRefused as refusal:
            answer = refusal
        except TooSlow as slow:
            if not any(isinstance(known, Page) for known in self.answers.values()):
                raise  # the platform answers to nothing
            answer = RequestRefused(str(slow), status=TOO_SLOW)
        self.answers[frozenset(query.items())] = answer
        return None if isinstance(answer, RequestRefused) else answer

    def recall(self, query: Query) -> PageProbe:
        """Return the stored answer to this query, or send it if there is none."""
        if frozenset(query.items()) not in self.answers:
            yield from self.ask(query)
        answer = self.answers[frozenset(query.items())]
        return None if isinstance(answer, RequestRefused) else answer

    def still_contrasts(self, first: Query, second: Query, *, rises: bool) -> Plan[bool]:
        """Return whether the second of two queries still shows more rows than the first (`rises`), or fewer.

        Both are asked once more, in the same order. One contrast proves little if it is a row or two, which may
        have come or gone by themselves: an end that was ignored gave 0 rows, and then a row came.
        """
        before = yield from self.ask(first)
        after = yield from self.ask(second)
        if before is None or after is None:
            return False
        more, fewer = (after, before) if rises else (before, after)
        return more.total_count > fewer.total_count

    def refusal_of(self, query: Query) -> Plan[RequestRefused | None]:
        """Return the refusal of a query, or `None` if the server answers it."""
        yield from self.recall(query)
        answer = self.answers[frozenset(query.items())]
        return answer if isinstance(answer, RequestRefused) else None

    def fields_at_fault(self) -> Plan[Sequence[str]]:
        """Return the parameters that the server names as missing when the query is empty.

        Raise `NotFound` or `RequestRefused` if the server has no such list.
        """
        refusal = yield from self.refusal_of({})
        if refusal is None:
            return ()
        if isinstance(refusal, NotFound) or (not refusal.fields and refusal.status not in (*VALIDATION, TOO_SLOW)):
            raise refusal
        return [name for name, _ in refusal.fields if name]

    def is_unknown(self, name: str, query: Query) -> Plan[bool]:
        """Return whether the server refuses a parameter with the message that it has for an unknown one."""
        message = _message_about(name, (yield from self.refusal_of(query)))
        return message is not None and message == _message_about(
            NO_SUCH_NAME, (yield from self.refusal_of({NO_SUCH_NAME: query[name]}))
        )

    def name_finding(self, key: Key, configured: str, evidence: str) -> Finding:
        """Return the finding for a proven name: the configured one, or a correction."""
        name = str(getattr(self.names, key))
        if name == configured:
            return self.finding(key, "ok", name, evidence)
        return self.finding(
            key,
            "contradicts",
            name,
            f"{configured} is not honoured; with {name}, {evidence}",
            f'set {key} = "{name}" in [partner.parameters.{self.endpoint}]',
            Correction(key, name),
        )


def is_slight(wide: Page, narrow: Page) -> bool:
    """Return whether two answers differ by so few rows that these may have come or gone by themselves."""
    return wide.total_count - narrow.total_count <= SLIGHT


def _message_about(name: str, refusal: RequestRefused | None) -> str | None:
    fields = refusal.fields if refusal else ()
    return next((message.replace(name, "") for field, message in fields if field == name), None)


def bisected(names: Sequence[str], works: Callable[[Sequence[str]], Plan[bool | None]]) -> Plan[list[str]]:
    """Return the names in the order to try them: the one that a bisection finds comes first.

    `works` sends several names at once and returns whether any of them changes the answer, or `None` if the server
    refuses the request. Five requests find one of 31 names; the caller proves it by itself afterwards.
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
    """Return the names to try, in this order, each once."""
    return list(dict.fromkeys(name for group in groups for name in group))


def far_ahead(now: datetime) -> datetime:
    """Return a time at which no row can have been updated yet."""
    return now + timedelta(days=400)
