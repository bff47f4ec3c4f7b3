"""Lists filtered by `updated_at` under everything that can happen to them (`support.strategy_machine`)."""

from datetime import datetime
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from support import claims
from support.model_source import Manners
from support.strategy_machine import StrategyMachine, Told

from pipelines.endpoints.appointments import APPOINTMENTS
from pipelines.endpoints.booking_sessions import BOOKING_SESSIONS
from pipelines.pages import Row
from pipelines.strategies import coverage
from pipelines.strategies.certified import ROWS_PER_WINDOW_ALLOWED, UNITED_PASSES, WINDOWS_ALLOWED
from pipelines.strategies.learning import instant


class Windows(StrategyMachine):
    KINDS = (
        *("insert", "late insert", "update", "late update", "delete"),
        *("reorder", "page size"),
    )
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
            refuses_datetimes=st.booleans(),
            **more,
        )

    def most_quiet(self, told: Told) -> int:
        """Each window once, with one look beyond a full last page, and one for a window that is cut.

        Then what the status that is derived costs.
        """
        windows = sum(item.total_first // self.page_size + 1 for item in told.certificates) + 1
        listed = len(self.source.rows) // self.page_size + 2
        known = (*told.known.items(), *self.source.rows.items())
        active = {identity for identity, row in known if row["status"] == "active"}
        gone = told.known.keys() - self.source.rows.keys()
        return windows + (listed + len(active | gone) if self.DERIVED else 0)

    def most_openings(self) -> int:
        windows = 2 * WINDOWS_ALLOWED + len(self.source.versions) // ROWS_PER_WINDOW_ALLOWED
        return 2 * UNITED_PASSES * windows

    def check(self, told: Told) -> None:
        source, store = self.source, self.store
        covered = coverage.instants(store.cursor.get("covered", ()))
        through = covered.through(told.reading.local_midnight(told.reading.history_start))

        claims.assert_versions_are_here(source, store, self.moved_at, _before(through), but=self.DERIVED)
        if told.outcome and told.outcome.certified:
            claims.assert_versions_are_here(source, store, told.reading.now, _before(told.outcome.through))


def _before(through: datetime | None) -> claims.Where:
    def where(row: Row) -> bool:
        at = instant(row["updated_at"])
        return through is not None and at is not None and at < through

    return where


class Appointments(Windows):
    ENDPOINT = APPOINTMENTS


class BookingSessions(Windows):
    """A session expires without its `updated_at` moving (contract: Booking session)."""

    ENDPOINT = BOOKING_SESSIONS
    KINDS = (*Windows.KINDS, "expire")
    DERIVED = ("status", "v")

    def _expire(self, pick: int) -> None:
        identity = self._some(pick)
        if identity and self.source.rows[identity]["status"] == "active":
            self.source.retell(identity, status="abandoned")


TestAppointments = Appointments.TestCase
TestBookingSessions = BookingSessions.TestCase
TestAppointments.settings = TestBookingSessions.settings = settings(max_examples=120, stateful_step_count=8)
