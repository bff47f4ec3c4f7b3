"""Finding out how a server speaks a list, at its first read, by contrast and never by one coincidence.

Each finding is kept as a capability with its evidence, so it is paid for once per practice and list: at most
eight requests where the configured names work. What cannot be told yet (a list without rows, or with a single
page) stays open and is asked again at the next sync.
"""

from collections.abc import Generator, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pipelines.endpoint import UpdatedWindows
from pipelines.errors import NotFound, PracticeRefused, RequestRefused
from pipelines.pages import Page, Row, Window
from pipelines.steps import Learnt, Step
from pipelines.strategies.dialect import Dialect, dialect_of
from pipelines.strategies.paging import key_of
from pipelines.strategies.reading import Reading

DATE_RANGE_NAMES = (
    ("start", "end"),
    ("from", "to"),
    ("updated_from", "updated_to"),
    ("updated_since", "updated_until"),
    ("updated_after", "updated_before"),
    ("updated_at_start", "updated_at_end"),
    ("updated_at_from", "updated_at_to"),
    ("updated_start", "updated_end"),
    ("start_time", "end_time"),
    ("start_at", "end_at"),
    ("date_from", "date_to"),
    ("from_date", "to_date"),
    ("since", "until"),
    ("startDate", "endDate"),
)
LOOKS = 4
PAGE_NAMES = ("page_number", "page_no", "pageNumber", "page_index", "p")

Finding = Generator[Step, Any, Dialect]


def open_list(dialect: Dialect, window: Window, known: Mapping[str, Any]) -> Finding:
    """Find a form of the first request that the server takes: bounds as instants or days, pages from 0 or 1.

    Raises:
        RequestRefused: the server takes none of them; the refusal of the configured form is raised.
    """
    if "page_base" in known or "bounds" in known:
        return dialect
    forms = [replace(dialect, page_base=base) for base in (0, 1)]
    if window.start is not None:
        forms += [replace(form, bounds="day") for form in forms]
        forms += [
            replace(form, names=replace(form.names, start=start, end=end))
            for start, end in DATE_RANGE_NAMES
            for form in forms
        ]
    refusal: RequestRefused | None = None
    for form in forms:
        try:
            page: Page = yield form.page(window, 0, lenient=True)
        except RequestRefused as error:
            if isinstance(error, NotFound | PracticeRefused):
                raise
            refusal = refusal or error
            continue
        if page.rows or not page.total_count:
            yield from _keep_form(dialect, form)
            return form
    if refusal is None:
        return dialect  # a total and no row in any form: how it is read will say that its totals lie
    raise refusal


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
    if (yield from _differ(dialect, window, 0, 1)):
        yield Learnt("page_base", 0, "page=0 and page=1 hold different rows")
        return dialect
    if (yield from _differ(dialect, window, 1, 2)) and not (yield from _differ(dialect, window, 0, 1)):
        yield Learnt("page_base", 1, "page=0 repeats page=1, page=2 differs")
        return replace(dialect, page_base=1)
    return (yield from _other_page_name(dialect, window))


def _differ(dialect: Dialect, window: Window, one: int, other: int) -> Generator[Step, Any, bool]:
    """Whether two pages hold different rows: none in common, not just not the same.

    A list that moves between the two requests makes any two pages overlap a little; then both are read again.
    """
    for _ in range(LOOKS):
        left = yield from _try(dialect.page(window, one, lenient=True))
        right = yield from _try(dialect.page(window, other, lenient=True))
        if left is None or right is None or _keys(left) == _keys(right):
            return False
        if _keys(left).isdisjoint(_keys(right)):
            return True
    return False


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


def _other_page_name(dialect: Dialect, window: Window) -> Finding:
    """Every page repeats the first: the parameter is ignored. Another name is proven by two differing pages."""
    for name in PAGE_NAMES:
        renamed = replace(dialect, names=replace(dialect.names, page=name))
        for base in (0, 1):
            if (yield from _differ(renamed, window, base, base + 1)):
                yield Learnt("page_base", base, f"{name}={base} and {name}={base + 1} hold different rows")
                evidence = f"{dialect.names.page} is ignored, {name} is not"
                yield Learnt("names", asdict(renamed.names), evidence)
                return replace(renamed, page_base=base)
    return dialect


def learn_paging_anew(reading: Reading) -> Generator[Step, Any, dict[str, Any]]:
    """What is known of the list, with the page base learnt again."""
    known = {name: value for name, value in reading.capabilities.items() if name != "page_base"}
    window = whole_history(reading) if isinstance(reading.endpoint.strategy, UpdatedWindows) else Window()
    dialect = dialect_of(reading.names, reading.endpoint.page_size, known)
    dialect = yield from open_list(dialect, window, {})
    dialect = yield from learn_paging(dialect, window, known)
    if dialect.page_base != reading.capabilities["page_base"]:
        yield Learnt("page_base", dialect.page_base, "learnt anew, since what was known could not be certified")
    return {**known, "page_base": dialect.page_base}


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
    page = yield from _try(dialect.count(ahead))
    return page is not None and page.total_count == 0


def _other_date_names(dialect: Dialect, reading: Reading) -> Finding:
    history = whole_history(reading)
    for start, end in DATE_RANGE_NAMES:
        names = replace(dialect.names, start=start, end=end)
        for bounds in ("instant", "day"):
            renamed = replace(dialect, names=names, bounds=bounds)
            page = yield from _try(renamed.page(history, 0, lenient=True))
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
        around = yield from _try(dialect.page(_around(at, timedelta()), 0, lenient=True))
        side = timedelta(seconds=10) if at.second < 30 else timedelta(seconds=-10)  # noqa: PLR2004 - same day
        beside = yield from _try(dialect.page(_around(at, side), 0, lenient=True))
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


def _try(step: Step) -> Generator[Step, Any, Page | None]:
    """The answer, or nothing where the server refuses this form of the question."""
    try:
        page: Page = yield step
    except RequestRefused:
        return None
    return page


def _keys(page: Page) -> set[str]:
    return {key_of(row) for row in page.rows}


def updated_at(row: Row) -> datetime | None:
    """When the source says that a row was last changed, if it can be read."""
    return instant(row.get("updated_at"))
