"""Find the names of a list's date range that the server honours (contract: Endpoints), and check its bounds.

Start and end are searched separately. Many names are first sent in one request: if they change nothing, none of
them works. Every request for the whole list sends an end, because the contract's default, "the current date", may
be last midnight, which would hide all rows of today. Bounds are finer than a day or
not, inclusive or not, UTC days or practice-local days.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import product
from typing import Literal

from vetl.core.list_read import Key, Reading
from vetl.core.pages import Page, Row, key_of, updated_at
from vetl.core.steps import Plan
from vetl.discovery import probes
from vetl.discovery.conventions import Bounds, format_bound, is_clear_of_midnights, latest_bound
from vetl.discovery.parameter_names import DATE_RANGE_NAMES
from vetl.discovery.probes import Finding, Findings, ListKnowledge

FORMS: tuple[Literal["instant", "day"], ...] = ("instant", "day")
PARTNERS = dict(DATE_RANGE_NAMES) | {"start_date": "end_date"}
"""The usual end of each start."""
MOST_DAYS = (365, 180, 90, 60, 30, 14, 7, 3, 1)
"""Usual limits of the length of a range, in days."""
SLACK = timedelta(days=2)
"""A row may be up to two days later than an end and still inside the range, if ends are whole days in any zone."""


def check_range(knowledge: ListKnowledge) -> Findings:
    """Prove the names of start and end, or find names that work.

    Set the names, the bounds and the query for the whole list in `knowledge`.
    """
    configured = knowledge.names
    whole = yield from _try_start(knowledge, configured.start)
    if whole is None and not knowledge.has_shown_names and (yield from _may_be_found(knowledge, PARTNERS)):
        hints = yield from knowledge.fields_at_fault()
        names = list(PARTNERS)
        ordered = names if hints else (yield from probes.bisected(names, partial(_any_start, knowledge)))
        for name in probes.candidates(hints, ordered):
            if name != configured.start and (whole := (yield from _try_start(knowledge, name))) is not None:
                break
    if whole is None:
        start = yield from _no_start(knowledge)
        if start.state == "contradicts":
            return [start]
        return [start, (yield from check_end(knowledge))]
    if not whole.total_count:
        return [_too_few(knowledge, "start"), _too_few(knowledge, "end")]
    knowledge.proven.add("start")
    evidence = (
        f"a far future gives 0 rows, the past more{probes.TWICE if whole.total_count <= probes.SLIGHT else ''}"
    )
    if knowledge.most_days:
        evidence += f"; a range of more than {knowledge.most_days} days is refused"
    start = knowledge.name_finding("start", configured.start, evidence)
    return [start, (yield from check_end(knowledge))]


def _may_be_found(knowledge: ListKnowledge, names: Mapping[str, str]) -> Plan[bool]:
    """Return whether any of these starts may work: sent together, in the far future, they empty the list.

    If the server refuses the request, the names are tried one by one, unless an earlier check did that in vain.
    """
    works = yield from _any_start(knowledge, list(names))
    return "start" not in knowledge.ignored if works is None else works


def _any_start(knowledge: ListKnowledge, names: Sequence[str]) -> Plan[bool | None]:
    ahead = format_bound(probes.far_ahead(knowledge.reading.now), "instant")
    page = yield from knowledge.ask(dict.fromkeys(names, ahead))
    return None if page is None else not page.total_count


def _try_start(knowledge: ListKnowledge, name: str) -> Plan[Page | None]:
    """Return the first page of the whole list if this start works.

    A start in the far future empties the list; one that is now leaves rows of today, if the server refuses the
    future.
    """
    is_unknown = False
    for refuses_future, bounds in product((False, True), FORMS):
        if refuses_future and is_unknown:
            break
        for query in _ahead(knowledge.reading, name, bounds, refuses_future=refuses_future):
            page = yield from knowledge.recall(query)
            if page is None:
                yield from knowledge.fields_at_fault()  # raises if the list does not exist
                if is_unknown := (yield from knowledge.is_unknown(name, query)):
                    break  # an end would not help; a day might, if the server has one message for all faults
                continue
            knowledge.refuses_future = refuses_future
            works = (
                _obeys_start(knowledge, page) if refuses_future else (yield from _is_empty(knowledge, query, page))
            )
            if not works:
                knowledge.accepted_start = knowledge.accepted_start or (name, bounds)
                return None
            whole = yield from _whole(knowledge, name, bounds)
            if whole is None:
                continue
            is_certain = not whole.total_count or not probes.is_slight(whole, page)
            if is_certain or (yield from knowledge.still_contrasts(query, knowledge.whole, rises=True)):
                return whole
            knowledge.accepted_start = knowledge.accepted_start or (name, bounds)
            return None
    return None


def _obeys_start(knowledge: ListKnowledge, page: Page) -> bool:
    """Return whether no row was updated before a start that is now; a whole list may be so short, too."""
    return all((at := updated_at(row)) is None or at >= knowledge.reading.now - SLACK for row in page.rows)


def _is_empty(knowledge: ListKnowledge, query: Mapping[str, str], page: Page) -> Plan[bool]:
    """Return whether an answer holds no row. If its total is not 0, a second answer must agree."""
    if page.total_count and not page.rows:
        again = yield from knowledge.ask(query)
        return again is not None and not again.rows
    return not page.rows


def _whole(knowledge: ListKnowledge, name: str, bounds: Bounds) -> Plan[Page | None]:
    """Read the first page of the whole list, with the configured end if the server accepts it.

    If the server refuses so long a range, or is too slow for it, read as much of it as it accepts.
    """
    # A range without an end is shorter, so if these are limited, it says little about the end.
    for has_end, knowledge.most_days in (*product((True, False), (None,)), *product((True, False), MOST_DAYS)):
        past, late = knowledge.widest(bounds)
        query = {name: past, knowledge.names.end: late} if has_end else {name: past}
        whole = yield from knowledge.recall(query)
        if whole is not None:
            knowledge.names = replace(knowledge.names, start=name)
            knowledge.bounds = bounds
            knowledge.whole = query
            return whole
    knowledge.most_days = None
    return None


def _ahead(reading: Reading, name: str, bounds: Bounds, *, refuses_future: bool) -> Iterator[Mapping[str, str]]:
    """Return ranges that start in the far future, or now: the start alone, and with an end.

    Some servers require start <= end.
    """
    at = latest_bound(reading, bounds) if refuses_future else probes.far_ahead(reading.now)
    start = {name: format_bound(at, bounds)}
    yield start
    if name in PARTNERS:
        end = at if refuses_future else at + timedelta(days=1)
        yield {**start, PARTNERS[name]: format_bound(end, bounds)}


def check_end(knowledge: ListKnowledge) -> Plan[Finding]:
    """Prove the configured end, or find one that works: a range with an early end lacks rows of a late one."""
    is_shown, configured = knowledge.has_shown_names, knowledge.names.end
    names = probes.candidates((configured,), PARTNERS.values())
    start = {name: value for name, value in knowledge.whole.items() if name == knowledge.names.start}
    partner = () if is_shown else (PARTNERS.get(knowledge.names.start, configured),)
    likely = probes.candidates((configured,), (name for name in knowledge.whole if name not in start), partner)
    evidence: str | None = None
    for name in likely:
        evidence = evidence or (yield from _end_works(knowledge, start, name))
    if evidence is None and not is_shown and (yield from _any_end_works(knowledge, start, names)) is not False:
        others = [name for name in names if name not in likely]
        for name in (yield from probes.bisected(others, partial(_any_end_works, knowledge, start))):
            if evidence := (yield from _end_works(knowledge, start, name)):
                break
    if evidence:
        knowledge.proven.add("end")
        return knowledge.name_finding("end", configured, evidence)
    knowledge.whole = start
    return knowledge.finding(
        "end",
        "ignored",
        "none",
        f"{configured} is not honoured, nor is any other name tried",
        "ask the platform for its name; until then certificates end a day and a half ago, because the server may "
        "hide later rows, and what is newer is read again at each sync",
    )


def _end_works(knowledge: ListKnowledge, start: Mapping[str, str], name: str) -> Plan[str | None]:
    """Return the evidence that an end works, or `None`. Set its name in `knowledge`."""
    form = yield from _form_of_ends(knowledge, start, (name,))
    _, late = knowledge.widest(form)
    wide = yield from knowledge.recall({**start, name: late})
    for early_start, early in _early(knowledge, start):
        if wide is None or not wide.total_count:
            return None
        narrow = yield from knowledge.ask({**early_start, name: format_bound(early, form)})
        if narrow is None or not _obeys(narrow, early) or narrow.total_count >= wide.total_count:
            continue
        queries = {**start, name: late}, {**early_start, name: format_bound(early, form)}
        slight = probes.is_slight(wide, narrow)
        if slight and not (yield from knowledge.still_contrasts(*queries, rises=False)):
            continue
        knowledge.names = replace(knowledge.names, end=name)
        knowledge.whole = {**start, name: late}
        knowledge.end_in_days = knowledge.bounds == "none" and form == "day"
        evidence = f"an early end gives {narrow.total_count} rows, a late one {wide.total_count}"
        return evidence + probes.TWICE if slight else evidence
    return None


def _early(knowledge: ListKnowledge, start: Mapping[str, str]) -> Iterator[tuple[Mapping[str, str], datetime]]:
    """Return early ends, each with its start: in the first second of history, and in the days before."""
    begun = knowledge.begun
    yield start, begun + timedelta(seconds=1)
    if knowledge.bounds == "day" and start:
        before = {name: format_bound(begun - timedelta(days=4), "day") for name in start}
        yield before, begun - timedelta(days=2)


def _obeys(page: Page, end: datetime) -> bool:
    """Return whether no row was updated after the requested end; a lower total alone may be a deleted row."""
    return all((at := updated_at(row)) is None or at <= end + SLACK for row in page.rows)


def _any_end_works(knowledge: ListKnowledge, start: Mapping[str, str], names: Sequence[str]) -> Plan[bool | None]:
    """Return whether these ends, sent together and early, remove rows; `None` if the server refuses them once."""
    begun = knowledge.begun
    form = yield from _form_of_ends(knowledge, start, names)
    early = format_bound(begun + timedelta(seconds=1), form)
    plain = yield from knowledge.recall(start)
    page = yield from knowledge.ask({**start, **dict.fromkeys(names, early)})
    if page is None or plain is None:
        return False if "end" in knowledge.ignored else None
    return page.total_count < plain.total_count


def _form_of_ends(knowledge: ListKnowledge, start: Mapping[str, str], names: Sequence[str]) -> Plan[Bounds]:
    """Return the form of ends: that of the working start, else instants, or days if only days are accepted.

    Learn whether the server refuses a single end only in the future.
    """
    forms = FORMS if knowledge.bounds == "none" else (knowledge.bounds,)
    refused_before = knowledge.refuses_future
    for knowledge.refuses_future in (refused_before, True):
        query: Mapping[str, str] = {}
        for form in forms:
            query = {**start, **dict.fromkeys(names, knowledge.widest(form)[1])}
            if (yield from knowledge.recall(query)) is not None:
                return form
        if len(names) > 1 or (yield from knowledge.is_unknown(names[0], query)):
            break
    knowledge.refuses_future = refused_before
    return forms[0]


def _no_start(knowledge: ListKnowledge) -> Plan[Finding]:
    name = knowledge.names.start
    knowledge.bounds, knowledge.whole = "none", {}
    refused = (yield from knowledge.recall({})) is None
    if refused and not knowledge.has_shown_names and "start" not in knowledge.ignored:
        hints = yield from knowledge.fields_at_fault()
        for other in probes.candidates(hints, PARTNERS):
            if knowledge.accepted_start is None:
                yield from _try_start(knowledge, other)
    if refused and knowledge.accepted_start is not None:
        name, form = knowledge.accepted_start
        knowledge.names = replace(knowledge.names, start=name)
        knowledge.whole = knowledge.required = {name: knowledge.widest(form)[0]}
    elif refused:
        refusal = yield from knowledge.refusal_of({name: knowledge.widest("instant")[0]})
        return knowledge.finding(
            "start",
            "contradicts",
            "none",
            f"{name} is refused, and so are every other name tried and a request without a start ({refusal})",
            f"ask the platform for its name and set start in [partner.parameters.{knowledge.endpoint}]",
        )
    return knowledge.finding(
        "start",
        "ignored",
        "none",
        f"{name} is not honoured, nor is any other name tried",
        f"ask the platform how to filter {knowledge.endpoint} by date; until then each sync reads the whole list",
    )


def _too_few(knowledge: ListKnowledge, key: Key) -> Finding:
    name = str(getattr(knowledge.names, key))
    return knowledge.finding(key, "unknown", name, "the list is empty since history_start")


SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
ROWS_TRIED = 3

Timed = tuple[Row, datetime]
Contains = Plan[bool | None]


def check_bounds(knowledge: ListKnowledge, rows: Sequence[Row]) -> Findings:
    """Read ranges of a second around single rows, then ranges that start or end at a row. `rows` are a sample."""
    timed = timed_rows(rows)
    if not timed or not {"start", "end"} <= knowledge.proven:
        return [knowledge.finding("bounds", "unknown", "", "no row with a time to try them on")]
    if knowledge.bounds == "instant" and (yield from granularity(knowledge, timed)) != "instant":
        knowledge.bounds = "widened"
    if knowledge.bounds == "instant":
        row, at = timed[0]
        exact = at.isoformat(timespec="microseconds").replace("+00:00", "Z")
        start = yield from _contains(knowledge, row, exact, format_bound(at + 2 * SECOND, "instant"))
        end = yield from _contains(knowledge, row, format_bound(at - SECOND, "instant"), exact)
        return [_bounds_finding(knowledge, start, end, "a range around a row holds it, one beside it does not")]
    return (yield from _day_bounds(knowledge, timed))


def timed_rows(rows: Sequence[Row]) -> list[Timed]:
    """Return the rows whose time can be parsed, each with its time."""
    return [(row, at) for row in rows if (at := updated_at(row)) is not None]


def granularity(knowledge: ListKnowledge, timed: Sequence[Timed]) -> Plan[Literal["instant", "widened"] | None]:
    """Return "instant" if start and end distinguish seconds, else "widened".

    A server distinguishes seconds if a range around a row holds the row and the ranges before and after do not. If
    no range around a row holds it, ends are whole days and exclusive, or the row has changed; whole days are
    correct in both cases. Return `None` if the ranges hold more rows than one page. Rows are tried first whose
    ranges are on one day in every time zone.
    """
    tried = sorted(timed, key=lambda item: not is_clear_of_midnights(item[1]))
    answers: set[bool | None] = set()
    for row, at in tried[:ROWS_TRIED]:
        around = yield from _contains(knowledge, row, *_range(at - SECOND, at + 2 * SECOND))
        answers.add(around)
        if not around:
            continue
        earlier = yield from _contains(knowledge, row, *_range(at - 11 * SECOND, at - 9 * SECOND))
        later = yield from _contains(knowledge, row, *_range(at + 9 * SECOND, at + 11 * SECOND))
        if earlier or later:
            return "widened"
        if earlier is False and later is False:
            return "instant"
    return "widened" if answers == {False} else None


def _day_bounds(knowledge: ListKnowledge, timed: Sequence[tuple[Row, datetime]]) -> Findings:
    zone = knowledge.reading.time_zone
    days = [(row, at.astimezone(UTC).date(), at.astimezone(zone).date()) for row, at in timed]
    start = end = None
    for row, day, _ in [item for item in days if item[1] == item[2]][:ROWS_TRIED]:
        start = yield from _contains(knowledge, row, *_days(day, day + DAY))
        end = yield from _contains(knowledge, row, *_days(day - DAY, day))
        if start is not None and end is not None:
            break
    findings = [_bounds_finding(knowledge, start, end, "ranges within a day give the same rows")]
    if start is None:
        return findings
    for row, utc, local in [item for item in days if item[1] != item[2]][:ROWS_TRIED]:
        later = max(utc, local)
        first = later if start else min(utc, local)
        inside = yield from _contains(knowledge, row, *_days(first, later + DAY))
        if inside is not None:
            whose = "UTC" if inside == (utc > local) else "practice"
            evidence = "by a row whose UTC day is not its practice-local day"
            return [*findings, knowledge.finding("days", "note", whose, evidence)]
    return [*findings, knowledge.finding("days", "unknown", "", "no row on two different days")]


def _bounds_finding(
    knowledge: ListKnowledge,
    start: bool | None,  # noqa: FBT001 - two answers of the server
    end: bool | None,  # noqa: FBT001
    evidence: str,
) -> Finding:
    shape = {True: "[]", False: "()", None: "??"}
    unit = "instant" if knowledge.bounds == "instant" else "day"
    interval = f"{unit} {shape[start][0]}{shape[end][1]}"
    return knowledge.finding("bounds", "note", interval, evidence)


def _range(start: datetime, end: datetime) -> tuple[str, str]:
    return format_bound(start, "instant"), format_bound(end, "instant")


def _days(start: date, end: date) -> tuple[str, str]:
    return start.isoformat(), end.isoformat()


def _contains(knowledge: ListKnowledge, row: Row, start: str, end: str) -> Contains:
    """Return whether a range holds a row; `None` if the range is refused or has more rows than one page."""
    page = yield from knowledge.ask({knowledge.names.start: start, knowledge.names.end: end, **knowledge.largest})
    if page is None:
        return None
    if key_of(row) in {key_of(other) for other in page.rows}:
        return True
    return False if page.total_count <= len(page.rows) else None
