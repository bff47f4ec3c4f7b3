"""Finding out how a server speaks a list, at its first read, by contrast and never by one coincidence.

Each finding is kept as a capability with its evidence, so it is paid for once per practice and list: at most
15 requests where the configured names work and the list holds still. What cannot be told yet (a list without
rows, or with a single page) stays open and is asked again at the next sync.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pipelines.endpoint import UpdatedWindows
from pipelines.errors import NotFound, PracticeRefused, RequestRefused, Unreachable
from pipelines.pages import Page, Row, Window
from pipelines.steps import Learnt, Step
from pipelines.strategies.dialect import Dialect, dialect_of
from pipelines.strategies.page_numbers import find_pages, page_if_given
from pipelines.strategies.paging import key_of
from pipelines.strategies.parameter_names import DATE_RANGE_NAMES, PAGE_NAMES
from pipelines.strategies.reading import Reading

Finding = Generator[Step, Any, Dialect]
ANEW = "learnt anew, since what was known could not be certified"


def open_list(dialect: Dialect, window: Window, known: Mapping[str, Any]) -> Finding:
    """Find a form of the first request that the server takes: bounds as instants or days, pages from 0 or 1.

    A server that counts from 1 may not find page 0, or break over it.

    Raises:
        RequestRefused, Unreachable: the server takes none of them; how it answers the configured form is raised.
    """
    if "bounds" in known or ("page_base" in known and window.start is None):
        return dialect
    forms = _forms(dialect, window, (dialect.page_base,) if "page_base" in known else (0, 1))
    failure: RequestRefused | Unreachable | None = None
    for form in forms:
        try:
            page: Page = yield form.page(window, 0, lenient=True)
        except (RequestRefused, Unreachable) as error:
            failure = failure or error
            if isinstance(error, PracticeRefused):
                raise
            if form is not forms[0] and isinstance(failure, NotFound | Unreachable):
                raise failure from None
            continue
        if page.rows:
            yield from _keep_form(dialect, form)
        if page.rows or not page.total_count:
            return form
    if failure is None:
        return dialect  # a total and no row in any form: how it is read will say that its totals lie
    raise failure


def _forms(dialect: Dialect, window: Window, bases: Sequence[int]) -> list[Dialect]:
    forms = [replace(dialect, page_base=base) for base in bases]
    if window.start is None:
        return forms
    forms += [replace(form, bounds="day") for form in forms]
    names = [replace(dialect.names, start=start, end=end) for start, end in DATE_RANGE_NAMES]
    return forms + [replace(form, names=name) for name in names for form in forms]


def _keep_form(configured: Dialect, form: Dialect) -> Generator[Step, Any, None]:
    if form.page_base != configured.page_base:
        yield Learnt("page_base", form.page_base, "page=0 is refused or empty, page=1 holds rows")
    if form.names != configured.names:
        evidence = f"{configured.names.start} is refused, {form.names.start} is taken"
        yield Learnt("names", asdict(form.names), evidence)


def learn_paging(dialect: Dialect, window: Window, known: Mapping[str, Any]) -> Finding:
    """Learn the page base and the largest page, from a window that should hold every row of the list.

    Contract, Endpoints: pages count from zero "where stated", and for most lists it is not.
    """
    if "page_base" in known:
        return dialect
    first: Page = yield dialect.page(window, 0, lenient=True)
    dialect = yield from _learn_page_size(dialect, window, first)
    if dialect.page_base or first.total_count <= len(first.rows):
        return dialect
    return (yield from _learn_numbers(dialect, window))


def _learn_numbers(dialect: Dialect, window: Window) -> Finding:
    """The page number, under its name or another one; where every page repeats the first, nothing is learnt."""

    def ask(name: str, number: int) -> Generator[Step, Any, Page | None]:
        named = replace(dialect, names=replace(dialect.names, page=name))
        return page_if_given(named.page(window, number, lenient=True))

    found = yield from find_pages((dialect.names.page, *PAGE_NAMES), ask)
    if found is None:
        return dialect
    name, base = found
    yield Learnt("page_base", base, f"{name}={base} and {name}={base + 1} hold different rows")
    named = replace(dialect, page_base=base, names=replace(dialect.names, page=name))
    if name != dialect.names.page:
        yield Learnt("names", asdict(named.names), f"{dialect.names.page} is ignored, {name} is not")
    return named


def _learn_page_size(dialect: Dialect, window: Window, page: Page) -> Finding:
    """The page size that the server gives, if it is smaller than what was asked for.

    A page that is shorter than it says is believed only when it comes twice: once, it may be torn.
    """
    given = min(page.per_page or dialect.page_size, dialect.page_size)
    if page.total_count > len(page.rows) and 0 < len(page.rows) < given:
        again: Page = yield dialect.page(window, 0, lenient=True)
        given = len(page.rows) if len(again.rows) == len(page.rows) else given
    if given < dialect.page_size and page.total_count > given:
        yield Learnt("page_size", given, f"asked for {dialect.page_size} rows, a page holds {given}")
        return replace(dialect, page_size=given)
    return dialect


def learn_paging_anew(reading: Reading) -> Generator[Step, Any, dict[str, Any]]:
    """What is known of the list, with the page base and the name of the page number learnt again.

    The configured name is tried first: another one may have been taken for it while the list moved.
    """
    known = {name: value for name, value in reading.capabilities.items() if name != "page_base"}
    window = whole_history(reading) if isinstance(reading.endpoint.strategy, UpdatedWindows) else Window()
    before = dialect_of(reading.names, reading.endpoint.page_size, known)
    doubted = replace(before, names=replace(before.names, page=reading.names.page))
    dialect = yield from open_list(doubted, window, {})
    dialect = yield from learn_paging(dialect, window, known)
    if dialect.page_base != reading.capabilities["page_base"]:
        yield Learnt("page_base", dialect.page_base, ANEW)
    if dialect.names == before.names:
        return {**known, "page_base": dialect.page_base}
    yield Learnt("names", asdict(dialect.names), ANEW)
    return {**known, "names": asdict(dialect.names), "page_base": dialect.page_base}


def learn_bounds(dialect: Dialect, reading: Reading, known: Mapping[str, Any]) -> Finding:
    """Learn whether the date filter works, under which names, and whether it is finer than a day.

    Honoured means: a range in the far future is empty while the history is not. Finer than a day means: a
    range around one row holds it, and a range beside it on the same day does not.
    """
    if "bounds" in known:
        return dialect
    page: Page = yield dialect.page(whole_history(reading), 0, lenient=True)
    if page.total_count == 0:
        return dialect
    if not (yield from _empties_in_the_future(dialect, reading)):
        return (yield from _other_date_names(dialect, reading))
    return (yield from _learn_granularity(dialect, page))


def whole_history(reading: Reading) -> Window:
    """Everything from the start of history to a day ahead of the source's clock."""
    return Window(reading.local_midnight(reading.history_start), reading.now + timedelta(days=1))


def _empties_in_the_future(dialect: Dialect, reading: Reading) -> Generator[Step, Any, bool]:
    ahead = Window(reading.now + timedelta(days=400), reading.now + timedelta(days=401))
    page = yield from page_if_given(dialect.count(ahead))
    return page is not None and page.total_count == 0


def _other_date_names(dialect: Dialect, reading: Reading) -> Finding:
    history = whole_history(reading)
    for start, end in DATE_RANGE_NAMES:
        names = replace(dialect.names, start=start, end=end)
        for bounds in ("instant", "day"):
            renamed = replace(dialect, names=names, bounds=bounds)
            page = yield from page_if_given(renamed.page(history, 0, lenient=True))
            if page is None or not page.total_count:
                continue
            if (yield from _empties_in_the_future(renamed, reading)):
                evidence = f"{dialect.names.start} is ignored; {start} empties a range in the far future"
                yield Learnt("names", asdict(names), evidence)
                return (yield from _learn_granularity(renamed, page))
            break
    yield Learnt("bounds", "none", f"{dialect.names.start} is ignored, and so is every other name tried")
    return replace(dialect, bounds="none")


def _learn_granularity(dialect: Dialect, page: Page) -> Finding:
    if dialect.bounds == "day":
        yield Learnt("bounds", "day", "date-times are refused, dates are taken")
        return dialect
    for row in page.rows[:3]:
        at = instant(row.get("updated_at"))
        if at is None:
            continue
        around = yield from page_if_given(dialect.page(_around(at, timedelta()), 0, lenient=True))
        side = timedelta(seconds=10) if at.second < 30 else timedelta(seconds=-10)  # noqa: PLR2004 - same day
        beside = yield from page_if_given(dialect.page(_around(at, side), 0, lenient=True))
        if around is None or beside is None:
            continue
        if key_of(row) in _keys(around) and key_of(row) not in _keys(beside):
            yield Learnt("bounds", "instant", "a range around a row holds it, one beside it does not")
            return dialect
    yield Learnt("bounds", "day", "ranges within a day are not told apart")
    return replace(dialect, bounds="day")


def _around(at: datetime, shift: timedelta) -> Window:
    middle = at.replace(microsecond=0) + shift
    return Window(middle - timedelta(seconds=2), middle + timedelta(seconds=3))


def instant(value: object) -> datetime | None:
    """A time as a row tells it, in UTC; `None` where it cannot be read."""
    try:
        at = datetime.fromisoformat(str(value))
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _keys(page: Page) -> set[str]:
    return {key_of(row) for row in page.rows}


def updated_at(row: Row) -> datetime | None:
    """When the source says that a row was last changed, if it can be read."""
    return instant(row.get("updated_at"))
