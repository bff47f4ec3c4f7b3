"""Read phone calls by whole practice-local days of the CSV (contract: Phone calls).

Rows have neither ids nor seconds, they change later without a new timestamp, and the filter is by whole days. So a
window is a span of days whose calls fit one page: one answer is one snapshot, and its days are replaced whole if
they differ. Only a single day that does not fit is read in another way (`call_days.read_crowded`).

Each sync reads days that were never read, today and tomorrow, and days with a call that is not final. Once a day
the last 35 days are read, and once a week the whole history. A past day with more calls than a page waits for
these, because each of its reads costs a hundred requests.

Requests for `D` days in `S` spans with `N` calls, with `P` calls on a page of the CSV and `p` on a page of the
JSON list: if nothing changes, at most `2S + D/400 + 2N/0.8P`, one for the tail, and two passes of `n/p + 1` for
each of the `C` days with `n >= P` calls. If calls change all the time, at most `S + 4D` for the CSV, five such
passes for each crowded day (twelve if only the order of calls changes), and for details all pages once for each
halving of the days, and such passes for each day.
Without changes: one. A server that refuses days to come costs one more; one that limits the days of a range, at
most one more for each window.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from datetime import date

from vetl.core.endpoint import DateWindows
from vetl.core.errors import Failing, RequestRefused
from vetl.core.list_read import Outcome, Reading
from vetl.core.pages import WindowKind
from vetl.core.steps import CallsPerDay, DaysWithState, Flush, MoveCursor, Plan, ReadCalls, SideBySide, do
from vetl.reading import call_details as details, coverage
from vetl.reading.call_days import DAY, DaysPurpose, SharedDays, calls_query, read_days
from vetl.reading.coverage import DaysCursor

FILLED = 0.8
"""Part of a page that a window should fill, because calls may have come since they were counted."""
WINDOWS_AT_ONCE = 8
"""Windows that are read at a time: each is one answer of at most 5,000 calls, and the client sends as many."""
MOST_DAYS = 400
"""Most days of a window, even if it has few calls."""


def read_call_days(reading: Reading, strategy: DateWindows) -> Plan[Outcome]:
    """Read the days that are new, open or due, then attach the details of the JSON list."""
    state = _State(reading)
    if state.was_put_back:
        # If this sync is killed, the next one must read again the days that this one stores as they are now.
        yield state.cursor()
    closed = yield from _closed_days(reading, strategy, state)
    windows = yield from _sized(closed, FILLED * strategy.csv_page_size)
    closed_days = [_read_closed(strategy, state, window) for window in windows]
    *doubts, _ = yield from do(SideBySide([*closed_days, _tail(strategy, state)], at_once=WINDOWS_AT_ONCE))
    yield Flush()
    doubt = next((doubt for doubt in doubts if doubt), None)
    if doubt is None:
        state.set_reread_days()
    attached = yield from details.attach(
        reading, state.today, daily=state.daily, tried=state.tried, shared=state.shared
    )
    doubt = state.zone_doubt(attached) or doubt or attached.doubt
    yield state.cursor()
    yield Flush()
    through = state.covered.through(reading.history_start)
    certified_through = reading.local_midnight(through) if through else None
    return Outcome(doubt is None, certified_through, doubt or "every day from one snapshot", attached.notes)


class _State:
    """The cursor of the phone calls during a sync, and the re-reads that are due by the source's clock."""

    def __init__(self, reading: Reading) -> None:
        cursor = DaysCursor.model_validate(reading.cursor)
        settled = reading.now - reading.margins.closing_lag
        self.open_from: date = settled.astimezone(reading.time_zone).date()
        self.today: date = reading.local_now.date()
        # The source's clock may have been put back; then the coverage behind it is not certain any more.
        stored = coverage.Coverage(cursor.covered)
        self.covered = stored.until(self.open_from)
        self.was_put_back = self.covered != stored
        self.sealed_before = self.covered.through(reading.history_start)
        self.json = details.conventions(reading)
        self.shared = SharedDays()
        self.recent_on, self.whole_on, self.zone = cursor.recent_on, cursor.whole_on, cursor.zone
        if self.was_put_back:
            self.recent_on = self.today - DAY
            self.whole_on = self.whole_on and min(self.whole_on, self.recent_on)
        self.tried = dict(cursor.tried)
        self.reading = reading
        # In a wrong zone most calls had no match, and the attached details are not valid any more.
        corrected = cursor.read_in not in (None, reading.time_zone.key)
        self.daily = self.recent_on != self.today or reading.reconcile != "no" or corrected
        self.weekly = reading.reconcile == "full" or (
            self.whole_on is not None and self.today - self.whole_on >= reading.margins.whole_every
        )
        if self.daily:
            self.tried.clear()

    def set_reread_days(self) -> None:
        self.recent_on = self.today
        if self.weekly or self.whole_on is None:
            self.whole_on = self.recent_on

    def zone_doubt(self, attached: details.Attached) -> str | None:
        """Return the evidence against the configured time zone, until new calls fit it or it is changed."""
        zone = self.reading.time_zone.key
        if attached.zone_checked:
            self.zone = (zone, attached.zone_doubt) if attached.zone_doubt else None
        return self.zone[1] if self.zone and self.zone[0] == zone else None

    def cursor(self) -> MoveCursor:
        return DaysCursor(
            covered=self.covered.spans,
            recent_on=self.recent_on,
            whole_on=self.whole_on,
            tried=self.tried,
            zone=self.zone,
            read_in=self.reading.time_zone.key,
        ).move()


def _closed_days(reading: Reading, strategy: DateWindows, state: _State) -> Plan[coverage.Coverage[date]]:
    """Return the spans of closed days that are to be read."""
    start, end = reading.history_start, state.open_from
    recent = max(start, end - reading.margins.recent)
    due = coverage.Coverage(tuple(state.covered.missing(start, end)))
    if state.weekly:
        due = due.add(start, end)
    if state.daily:
        due = due.add(recent, end)
    if reading.since is not None:
        last = reading.until + DAY if reading.until else end
        due = due.add(max(start, reading.since), min(last, end))
    moving = yield from do(DaysWithState(strategy.open_states))
    stored = (yield from do(CallsPerDay(recent, end - DAY))) if moving else {}
    for day in moving:
        if recent <= day < end and stored[day] < strategy.csv_page_size:
            due = due.add(day, day + DAY)
    return due


@dataclass(frozen=True, slots=True)
class _Days:
    """A window that should fit one page, and the number of stored calls of each of its days."""

    start: date
    end: date
    stored: Mapping[date, int]


def _sized(due: coverage.Coverage[date], rows_at_once: float) -> Plan[list[_Days]]:
    """Return the spans cut into windows that should fit one page."""
    windows: list[_Days] = []
    for start, end in due.spans:
        stored = yield from do(CallsPerDay(start, end - DAY))
        per_day = yield from _expected_per_day(start, end, stored, rows_at_once)
        windows += [_Days(*days, stored) for days in _packed((start, end), stored, per_day, rows_at_once)]
    return windows


def _expected_per_day(start: date, end: date, stored: Mapping[date, int], most: float) -> Plan[float]:
    """Return the mean number of calls on days without stored calls, from the total of one small request.

    A mean of more calls than a page counts as 0: windows of many days are cut by the size of their answers. So
    does the mean of so many days that the server refuses them, or a gateway does not wait for them.
    """
    unknown = (end - start).days - len(stored)
    if unknown <= 1:
        return 0.0
    try:
        page = yield from do(ReadCalls(calls_query(start, end, size=1), 0, 1, lenient=True, divisible=True))
    except (RequestRefused, Failing):
        return 0.0
    expected = max(0.0, page.total_count - sum(stored.values())) / unknown
    return expected if expected <= most else 0.0


def _packed(
    span: coverage.Span[date], stored: Mapping[date, int], per_day: float, rows_at_once: float
) -> Generator[coverage.Span[date], None, None]:
    (day, end), rows = span, 0.0
    first = day
    while day < end:
        expected = stored.get(day, per_day)
        if day > first and (rows + expected > rows_at_once or (day - first).days >= MOST_DAYS):
            yield first, day
            first, rows = day, 0.0
        rows += expected
        day += DAY
    if first < end:
        yield first, end


def _read_closed(strategy: DateWindows, state: _State, days: _Days) -> Plan[str | None]:
    def certified(start: date, end: date) -> MoveCursor:
        state.covered = state.covered.add(start, end)
        return state.cursor()

    purpose = DaysPurpose(
        WindowKind.CLOSED,
        state.json,
        state.reading.time_zone,
        state.shared,
        days.stored,
        sealed_before=state.sealed_before,
        on_certified=certified,
    )
    return (yield from read_days(strategy, days.start, days.end, purpose))


def _tail(strategy: DateWindows, state: _State) -> Plan[str | None]:
    """Read the days that are not over, and tomorrow, unless the server refuses days to come."""
    start, end = state.open_from, state.today + 2 * DAY
    stored = yield from do(CallsPerDay(start, end - DAY))
    purpose = DaysPurpose(WindowKind.TAIL, state.json, state.reading.time_zone, state.shared, stored)
    try:
        return (yield from read_days(strategy, start, end, purpose))
    except RequestRefused:
        return (yield from read_days(strategy, start, end - DAY, purpose))
