"""Lists without date filter and order under every possible change (`support.strategy_machine`)."""

from hypothesis import settings
from support import certificate_claims as claims
from support.model_source import START
from support.strategy_machine import EndedReading, StrategyMachine

from pipelines.core.pages import Row
from pipelines.endpoints.staff_tasks import STAFF_TASKS
from pipelines.reading.certified import UNITED_PASSES

STATUSES = STAFF_TASKS.strategy.statuses  # type: ignore[union-attr]


class Tasks(StrategyMachine):
    """Tasks appear, are completed and reopened and edited, and are deleted, which should never happen."""

    ENDPOINT = STAFF_TASKS
    KINDS = ("insert", "update", "late insert", "delete", "reorder", "page size")
    ORDERS = ("updated_desc", "updated_asc", "created_desc", "id")
    STATUSES = STATUSES
    SWAPS = ("whole",)
    FOLLOWS = 2
    unseen_at = START

    def most_quiet(self, ended: EndedReading) -> int:
        """Return the requests for open or new rows, the list, totals after each; thrice more if a row is gone."""
        whole = len(self.source.rows) // self.page_size + 1
        gone = ended.before.keys() - self.source.rows.keys()
        return (5 if gone else 2) * whole + 3 * len(STATUSES)

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
            claims.assert_versions_are_here(self.source, self.store, began, _is_pending)


def _is_pending(row: Row) -> bool:
    return row["status"] == "pending"


TestTasks = Tasks.TestCase
TestTasks.settings = settings(stateful_step_count=8)
