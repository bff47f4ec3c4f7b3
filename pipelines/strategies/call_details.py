"""Ids, exact times and client ids of phone calls, from the JSON list (contract: Phone calls).

The CSV carries none of them. The JSON list is read for days that hold a call without an id, at 100 a page, and
matched to the CSV's rows day by day. A window is attached only if its distinct ids equal an unmoved total.
"""

from collections.abc import Generator, Mapping
from datetime import date
from typing import Any

from pipelines.pages import Window
from pipelines.steps import AttachDetails, DaysLackingDetails, Flush, SideBySide, Step
from pipelines.strategies.call_windows import DAY
from pipelines.strategies.coverage import Coverage
from pipelines.strategies.dialect import Dialect
from pipelines.strategies.paging import certificate, read_pass
from pipelines.strategies.reading import Reading

ROWS_AT_ONCE = 1_000
PASSES = 3


def attach(
    reading: Reading, today: date, *, daily: bool, tried: dict[str, int]
) -> Generator[Step, Any, tuple[str, ...]]:
    """Attach details to the days that lack them; `tried` remembers what the JSON list did not explain.

    Days within the last 35 are read at once, older ones little by little, once a day, within the budget of
    `phone_calls.details_budget` requests. Returns notes for the run's report.
    """
    if reading.details == "off":
        return ()
    recent = max(reading.history_start, today - reading.margins.recent)
    start = reading.history_start if reading.details == "all" else recent
    lacking: Mapping[date, int] = yield DaysLackingDetails(start, today + DAY)
    wanted = {day: calls for day, calls in lacking.items() if tried.get(day.isoformat()) != calls}
    yield from _read(reading, wanted)
    older = yield from _older(reading, recent) if daily and reading.details == "recent" else _nothing()
    yield from _read(reading, older)
    yield Flush()
    still: Mapping[date, int] = yield DaysLackingDetails(start, today + DAY)
    tried.clear()
    tried.update({day.isoformat(): calls for day, calls in still.items()})
    unexplained = sum(still.values())
    return (f"phone_calls: {unexplained} calls are not explained by the JSON list yet",) if unexplained else ()


def _nothing() -> Generator[Step, Any, dict[date, int]]:
    yield from ()
    return {}


def _older(reading: Reading, recent: date) -> Generator[Step, Any, dict[date, int]]:
    """Older days that lack details, the newest first, as far as the budget goes.

    The first sync leaves them to the next day: a user waits for the recent days only.
    """
    if reading.cursor.get("recent_on") is None:
        return {}
    lacking: Mapping[date, int] = yield DaysLackingDetails(reading.history_start, recent - DAY)
    budget = reading.details_budget
    chosen: dict[date, int] = {}
    for day in sorted(lacking, reverse=True):
        budget -= 1 + lacking[day] // reading.endpoint.page_size
        if budget < 0:
            break
        chosen[day] = lacking[day]
    return chosen


def _read(reading: Reading, days: Mapping[date, int]) -> Generator[Step, Any, None]:
    dialect = Dialect(reading.names, page_size=reading.endpoint.page_size)
    windows = [_read_window(dialect, window) for window in _packed(days)]
    yield SideBySide(windows)


def _packed(days: Mapping[date, int]) -> list[Window]:
    """Neighbouring days together, as long as they hold a few pages only."""
    windows: list[Window] = []
    spans: Coverage[date] = Coverage()
    rows = 0
    for day in sorted(days):
        joins = spans.spans and spans.spans[-1][1] == day and rows + days[day] <= ROWS_AT_ONCE
        if spans.spans and not joins:
            windows.append(Window(spans.spans[0][0], spans.spans[-1][1] - DAY))
            spans, rows = Coverage(), 0
        spans, rows = spans.add(day, day + DAY), rows + days[day]
    if spans.spans:
        windows.append(Window(spans.spans[0][0], spans.spans[-1][1] - DAY))
    return windows


def _read_window(dialect: Dialect, window: Window) -> Generator[Step, Any, None]:
    for attempt in range(PASSES):
        done = yield from read_pass(dialect, window)
        if done.whole:
            assert isinstance(window.start, date)
            assert isinstance(window.end, date)
            evidence = certificate(done, "details", retries=attempt)
            yield AttachDetails(done.rows, window.start, window.end, certificate=evidence)
            return
