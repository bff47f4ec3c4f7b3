"""Read ids, exact times and client ids of phone calls from the JSON list (contract: Phone calls).

The CSV has none of them. The JSON list is read for days that are new or have changed since its last read, at 100
rows a page, and its rows are matched to the rows of the CSV day by day. A window is attached if its distinct ids
equal an unchanged total, else each half of it, down to a day, which is proven as a day beyond one page of the CSV
is (`call_days.read_crowded`): the contract shows no order of the list, and calls may change meanwhile. A change in
the JSON list alone, such as the merge of two clients, is found by a reconcile, which reads the list again for all
days with details.

Requests: the pages of those days, and of each half if they are not whole; three a day to check that ids are
stable.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import NamedTuple

from vetl.core import steps
from vetl.core.errors import Failing, RequestRefused
from vetl.core.list_read import Reading
from vetl.core.pages import Certificate, Row, Window, WindowKind, instant
from vetl.core.zones import contradiction, pairs
from vetl.discovery.conventions import QueryConventions
from vetl.discovery.identity import IDS, Identity, look
from vetl.reading.call_days import DAY, SharedDays
from vetl.reading.coverage import DaysCursor
from vetl.reading.crowded_day import read_crowded
from vetl.reading.paging import Pass, certificate, read_pass

KIND = WindowKind.DETAILS
ROWS_AT_ONCE = 1_000
CLOSE = timedelta(days=3)
ENOUGH = 5
"""Calls from which on it is no chance if none of them has a counterpart in the JSON list."""

WITHOUT_IDS = "all calls are read, but new ones lack ids and clients"


@dataclass(frozen=True, slots=True)
class Attached:
    """The result of the details: notes, and the reason in `doubt` if no ids are attached at all.

    `zone_checked`: new calls were compared with the configured time zone; `zone_doubt` is the evidence against it.
    """

    notes: tuple[str, ...] = ()
    doubt: str | None = None
    zone_checked: bool = False
    zone_doubt: str | None = None


class _Listed(NamedTuple):
    """The rows of the latest days, and the reason why a day gets no details, if there is such a day."""

    rows: Sequence[Row] = ()
    doubt: str | None = None


def attach(
    reading: Reading, today: date, *, daily: bool, tried: dict[date, int], shared: SharedDays
) -> steps.Plan[Attached]:
    """Attach details to the days that lack them; `tried` counts the calls that the JSON list does not contain.

    The last 35 days are read at once, and older days once a day within the budget of `phone_calls.details_budget`
    requests. Ids that change from read to read are not attached. If the JSON list is refused, no details are
    attached, and the calls of the CSV stay as they are.
    """
    if reading.details == "off":
        return Attached()
    try:
        return (yield from _attach(reading, today, tried, shared, daily=daily))
    except (RequestRefused, Failing) as error:
        verb = "is refused" if isinstance(error, RequestRefused) else "fails"
        return Attached(doubt=f"the list by ids {verb} ({error}); {WITHOUT_IDS}")


def _attach(
    reading: Reading, today: date, tried: dict[date, int], shared: SharedDays, *, daily: bool
) -> steps.Plan[Attached]:
    recent = max(reading.history_start, today - reading.margins.recent)
    start = reading.history_start if reading.details == "all" else recent
    every_day = reading.reconcile != "no"
    lacking = yield from steps.do(
        (steps.CallsPerDay if every_day else steps.DaysLackingDetails)(start, today + DAY)
    )
    days = {day: calls for day, calls in lacking.items() if tried.get(day) != calls}
    ids = yield from _look_at_ids(reading, days, daily=daily)
    if ids.verdict == "changing":
        return Attached(doubt=f"{ids.finding}; {WITHOUT_IDS}")
    listed, doubt = yield from _attach_days(reading, days, shared)
    if daily and reading.details == "recent":
        yield from _attach_days(reading, (yield from _repeated_hours(reading, recent)), shared)
        yield from _attach_days(reading, (yield from _older(reading, recent)), shared)
    yield steps.Flush()
    still = yield from steps.do(steps.DaysLackingDetails(start, today + DAY))
    tried.clear()
    tried.update(still)
    unexplained = sum(still.values())
    if not unexplained:
        return Attached(doubt=doubt, zone_checked=bool(listed))
    zone_doubt = (yield from _zone_doubt(reading, listed)) if listed else None
    calls = sum((yield from steps.do(steps.CallsPerDay(start, today + DAY))).values())
    note = f"{unexplained} of {calls} calls have no counterpart in the JSON list yet"
    if ENOUGH <= calls == unexplained:
        doubt = doubt or f"{note}; {WITHOUT_IDS}"
    notes = () if doubt else (f"phone_calls: {note}",)
    return Attached(notes, doubt, zone_checked=bool(listed), zone_doubt=zone_doubt)


def _zone_doubt(reading: Reading, listed: Sequence[Row]) -> steps.Plan[str | None]:
    """Return the evidence of the latest calls in the JSON list against the configured time zone, if any."""
    # In a wrong zone a call is stored hours before or after its time, perhaps on the day before or after its own.
    times = [at.astimezone(reading.time_zone).date() for row in listed if (at := instant(row.get("created_at")))]
    if not times:
        return None
    here = yield from steps.do(steps.CallsHere(min(times) - DAY, max(times) + DAY))
    return contradiction(reading.time_zone.key, pairs(listed, here))


def _look_at_ids(reading: Reading, days: Mapping[date, int], *, daily: bool) -> steps.Plan[Identity]:
    """Check whether calls of the JSON list keep their ids: once a day, and if that is not known."""
    if not days or (reading.capabilities.get(IDS) == "stable" and not daily):
        return Identity()
    window = _packed(days)[-1]
    try:
        return (yield from look(conventions(reading), window))
    except (RequestRefused, Failing):
        return (yield from look(conventions(reading), replace(window, start=window.end)))


def _repeated_hours(reading: Reading, recent: date) -> steps.Plan[dict[date, int]]:
    """Return older days that lack details and have one hour twice, which the CSV does not distinguish."""
    days: dict[date, int] = {}
    day = reading.history_start
    while day < recent:
        if reading.local_midnight(day + DAY) - reading.local_midnight(day) > DAY:
            lacking = yield from steps.do(steps.DaysLackingDetails(day, day))
            days.update(lacking)
        day += DAY
    return days


def _older(reading: Reading, recent: date) -> steps.Plan[dict[date, int]]:
    """Return older days that lack details, the newest first, within the budget."""
    # The first sync leaves them to the next day, because a user waits for it.
    if DaysCursor.model_validate(reading.cursor).recent_on is None:
        return {}
    lacking = yield from steps.do(steps.DaysLackingDetails(reading.history_start, recent - DAY))
    budget = reading.details_budget
    chosen: dict[date, int] = {}
    for day in sorted(lacking, reverse=True):
        budget -= 1 + lacking[day] // reading.endpoint.page_size
        if budget < 0:
            break
        chosen[day] = lacking[day]
    return chosen


def _attach_days(reading: Reading, days: Mapping[date, int], shared: SharedDays) -> steps.Plan[_Listed]:
    """Read the details of days and attach them; return the rows of the last window, and the first doubt."""
    json, windows = conventions(reading), _packed(days)
    read = yield from steps.do(
        steps.SideBySide([_read_window(json, window, shared, last=window is windows[-1]) for window in windows])
    )
    return _Listed(read[-1].rows if read else (), next((listed.doubt for listed in read if listed.doubt), None))


def conventions(reading: Reading) -> QueryConventions:
    """Return the conventions of the JSON list of calls."""
    return QueryConventions(reading.names, page_size=reading.endpoint.page_size)


def _packed(days: Mapping[date, int]) -> list[Window]:
    """Return windows of near days that have a few pages at most."""
    # A Sunday without a call does not separate its neighbours.
    windows: list[tuple[date, date]] = []
    rows = 0
    for day in sorted(days):
        if windows and day - windows[-1][1] <= CLOSE and rows + days[day] <= ROWS_AT_ONCE:
            windows[-1] = (windows[-1][0], day)
            rows += days[day]
        else:
            windows.append((day, day))
            rows = days[day]
    return [Window(first, last) for first, last in windows]


def _read_window(json: QueryConventions, window: Window, shared: SharedDays, *, last: bool) -> steps.Plan[_Listed]:
    """Read a window and attach its rows; read halves if it is not whole, refused or too slow."""
    first, final = window.start, window.end
    assert isinstance(first, date)
    assert isinstance(final, date)
    if first == final:
        try:
            return (yield from _read_day(json, first, shared, last=last))
        except Failing as error:
            return _Listed(doubt=f"{shared.doubt(first, error)}; {WITHOUT_IDS}")
    with suppress(RequestRefused, Failing):
        done = yield from _read_pass(json, window, shared)
        if done.whole:
            yield steps.AttachDetails(
                done.rows, first, final, certificate=_after_calls(certificate(done, KIND), shared)
            )
            return _Listed(done.rows if last else ())
        del done  # the rows of a pass that proves nothing take memory while the halves are read
    middle = date.fromordinal((first.toordinal() + final.toordinal()) // 2)
    earlier = yield from _read_window(json, Window(first, middle), shared, last=False)
    later = yield from _read_window(json, Window(middle + DAY, final), shared, last=last)
    return _Listed(later.rows, earlier.doubt or later.doubt)


def _after_calls(evidence: Certificate, shared: SharedDays) -> Certificate:
    """Return the certificate with a time that is not before that of the calls, which were read earlier."""
    return replace(evidence, finished=max(evidence.finished, shared.read_at))


def _read_day(json: QueryConventions, day: date, shared: SharedDays, *, last: bool) -> steps.Plan[_Listed]:
    window = Window(day, day)
    done = yield from _read_pass(json, window, shared)
    rows, evidence = done.rows, certificate(done, KIND)
    if not done.whole:
        crowded = yield from read_crowded(replace(json, lenient=shared.lies), window, KIND)
        rows, evidence = crowded.rows, crowded.evidence
    if not evidence.certified:
        yield steps.MergeRows((), evidence.finished, certificate=evidence)
        return _Listed(doubt=f"{day}: the list by ids is not whole ({evidence.reason}); {WITHOUT_IDS}")
    yield steps.AttachDetails(rows, day, day, certificate=_after_calls(evidence, shared))
    return _Listed(rows if last else ())


def _read_pass(json: QueryConventions, window: Window, shared: SharedDays) -> steps.Plan[Pass]:
    done = yield from read_pass(replace(json, lenient=shared.lies), window)
    shared.lies = shared.lies or bool(done.lie)
    return done
