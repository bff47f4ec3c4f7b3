"""Lists under every possible change (`support.strategy_machine`).

They are filtered by `updated_at`; without date filter and order; or most recent first.
"""

from datetime import datetime, timedelta
from typing import Any

from hypothesis import settings, strategies as st
from support import certificate_claims as claims
from support.model_source import START, Manners
from support.strategy_machine import EndedReading, StrategyMachine
from vetl.core.endpoint import QueryNames
from vetl.core.pages import Row, instant
from vetl.endpoints import AI_OUTBOUND, APPOINTMENTS, BOOKING_SESSIONS, STAFF_TASKS
from vetl.reading import coverage
from vetl.reading.certified import ROWS_PER_WINDOW_ALLOWED, UNITED_PASSES, WINDOWS_ALLOWED
from vetl.reading.coverage import WindowsCursor
from vetl.reading.undated_lists import ATTEMPTS

NAMES = (
    QueryNames(),
    QueryNames(),
    QueryNames(start="from", end="until"),
    QueryNames(end="to"),
    QueryNames(start="commencing"),
    QueryNames(end="closing"),
    QueryNames(start="commencing", end="closing"),
)
"""The configured names, other usual names, of two pairs or single; and names that nobody knows."""


class Windows(StrategyMachine):
    KINDS = ("insert", "late insert", "update", "late update", "delete", "reorder", "page size")
    ORDERS = ("updated_asc", "updated_desc", "created_desc", "id")
    STATUSES = ("active", "completed", "abandoned")
    SWAPS = ("tail", "second look")
    DERIVED: tuple[str, ...] = ()

    @classmethod
    def manners(cls, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[Manners]:
        return super().manners(
            bounds=st.sampled_from(["instant", "day"]),
            start_inclusive=st.booleans(),
            end_inclusive=st.booleans(),
            refuses=st.sampled_from([None, "instants", "days"]),
            refuses_future=st.sampled_from([None, None, "days", "instants"]),
            names=st.sampled_from(NAMES),
            default_end=st.sampled_from(["none", "midnight", "strict midnight"]),
            **more,
        )

    def most_quiet(self, ended: EndedReading) -> int:
        """Return one request for each window, one beyond a full last page, and one for a window that is cut.

        The cost of a derived status comes on top, and twice the totals with each status and without one.
        """
        windows = sum(item.total_first // self.page_size + 1 for item in ended.certificates) + 1
        listed = len(self.source.rows) // self.page_size + 2
        versions = (*ended.before.items(), *self.source.rows.items())
        active = {identity for identity, row in versions if row["status"] == "active"}
        gone = ended.before.keys() - self.source.rows.keys()
        return windows + (listed + len(active | gone) + 2 * 4 if self.DERIVED else 0)

    def most_openings(self) -> int:
        windows = 2 * WINDOWS_ALLOWED + len(self.source.versions) // ROWS_PER_WINDOW_ALLOWED
        return 2 * UNITED_PASSES * windows

    def check(self, ended: EndedReading) -> None:
        source, store = self.source, self.store
        covered = coverage.Coverage(WindowsCursor.model_validate(store.cursor).covered)
        through = covered.through(ended.reading.local_midnight(ended.reading.history_start))

        claims.assert_versions_are_here(source, store, self.moved_at, _before(through), but=self.DERIVED)
        if ended.outcome and ended.outcome.certified:
            claims.assert_versions_are_here(source, store, ended.reading.now, _before(ended.outcome.through))


def _before(through: datetime | None) -> claims.Where:
    def where(row: Row) -> bool:
        at = instant(row["updated_at"])
        return through is not None and at is not None and at < through

    return where


class Appointments(Windows):
    """If no start, no end or none in the future is known, a row that did not come may be hidden, not deleted."""

    ENDPOINT = APPOINTMENTS

    def check_rest(self) -> None:
        names, rows = self.source.manners.names, self.source.rows
        if names.end == "closing" or names.start == "commencing" or self.source.manners.refuses_future:
            assert rows.items() <= self.store.rows.items()
        else:
            super().check_rest()


class BookingSessions(Windows):
    """A session expires without a change of its `updated_at` (contract: Booking session)."""

    ENDPOINT = BOOKING_SESSIONS
    KINDS = (*Windows.KINDS, "expire")
    DERIVED = ("status", "v")
    REST = timedelta(hours=62)
    """If no end is known, a missing row is searched by id once its window is closed: in a day and a half, and in
    the day that has begun then if bounds are days.
    """

    def _expire(self, pick: int) -> None:
        identity = self._some(pick)
        if identity and self.source.rows[identity]["status"] == "active":
            self.source.retell(identity, status="abandoned")


TestAppointments = Appointments.TestCase
TestBookingSessions = BookingSessions.TestCase
TestAppointments.settings = TestBookingSessions.settings = settings(stateful_step_count=8)
TASK_STATUSES = STAFF_TASKS.strategy.statuses  # type: ignore[union-attr]


class Tasks(StrategyMachine):
    """Tasks appear, are completed and reopened and edited, and are deleted, which should never happen."""

    ENDPOINT = STAFF_TASKS
    KINDS = ("insert", "update", "late insert", "delete", "reorder", "page size")
    ORDERS = ("updated_desc", "updated_asc", "created_desc", "id")
    STATUSES = TASK_STATUSES
    SWAPS = ("whole",)
    FOLLOWS = 2
    unseen_at = START

    def most_quiet(self, ended: EndedReading) -> int:
        """Return the requests for open or new rows, the list, totals after each; thrice more if a row is gone."""
        whole = len(self.source.rows) // self.page_size + 1
        gone = ended.before.keys() - self.source.rows.keys()
        return (5 if gone else 2) * whole + 3 * len(TASK_STATUSES)

    def most_openings(self) -> int:
        return 2 * (2 + 2 * UNITED_PASSES) + self.MOST_LEARNING

    def _update(self, pick: int) -> None:
        identity = self._some(pick)
        if identity and "pending" not in (self.source.rows[identity]["status"], self._status(pick)):
            self.unseen_at = self.source.now
        super()._update(pick)

    def _delete(self, pick: int) -> None:
        self.unseen_at = self.source.now
        super()._delete(pick)

    def check(self, ended: EndedReading) -> None:
        """Between whole reads an edit of a final task changes no total, nor a deletion beside an insertion."""
        if not ended.outcome or not ended.outcome.certified or ended.swapped:
            return
        began, through = ended.reading.now, ended.outcome.through
        assert through is not None
        if "the last whole read" not in ended.outcome.reason:
            assert through == began
            claims.assert_rows_are_current(self.source, self.store, began)
        elif self.unseen_at <= through:
            claims.assert_versions_are_here(self.source, self.store, began, claims.everything)
        else:
            claims.assert_versions_are_here(self.source, self.store, began, lambda row: row["status"] == "pending")


TestTasks = Tasks.TestCase
TestTasks.settings = settings(stateful_step_count=8)
LIFE = {"received": "queued", "queued": "in_progress", "in_progress": "completed"}
OUTREACH_STATUSES = AI_OUTBOUND.strategy.statuses  # type: ignore[union-attr]


class Outreach(StrategyMachine):
    """Requests appear, move on until they are final, and are deleted, which should never happen."""

    ENDPOINT = AI_OUTBOUND
    KINDS = ("insert", "move on", "delete", "reorder", "page size")
    ORDERS = ("created_desc", "created_desc", "created_desc", "id")
    STATUSES = tuple(LIFE)
    SWAPS = ("newest_first", "whole")
    STAMPED = False
    FOLLOWS = 2

    def _move_on(self, pick: int) -> None:
        still = [identity for identity, row in self.source.rows.items() if row["status"] in LIFE]
        if still:
            identity = still[pick % len(still)]
            self.source.touch(identity, status=LIFE[self.source.rows[identity]["status"]])

    def most_quiet(self, ended: EndedReading) -> int:
        """Return the requests for the whole list, totals, open and missing rows; all again if a row is gone."""
        rows = self.source.rows
        whole = len(rows) // self.page_size + 1
        versions = (*ended.before.items(), *rows.items())
        open_here = {identity for identity, row in versions if row["status"] in LIFE}
        gone = ended.before.keys() - rows.keys()
        once = whole + len(OUTREACH_STATUSES) + len(open_here) + len(gone)
        return ATTEMPTS * once + 2 * whole if gone or self.source.manners.order == "id" else once

    def most_openings(self) -> int:
        return 2 * (ATTEMPTS + 2 * UNITED_PASSES) + self.MOST_LEARNING

    def check(self, ended: EndedReading) -> None:
        if ended.outcome and ended.outcome.certified and not ended.swapped:
            assert ended.outcome.through == ended.reading.now
            claims.assert_rows_are_current(self.source, self.store, ended.reading.now)


TestOutreach = Outreach.TestCase
TestOutreach.settings = settings(stateful_step_count=8)
