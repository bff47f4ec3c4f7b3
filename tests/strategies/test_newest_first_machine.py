"""Lists that are most recent first under every possible change (`support.strategy_machine`)."""

from hypothesis import settings
from support import certificate_claims as claims
from support.strategy_machine import EndedReading, StrategyMachine

from pipelines.endpoints.ai_outbound import AI_OUTBOUND
from pipelines.reading.certified import UNITED_PASSES
from pipelines.strategies.newest_first import ATTEMPTS

LIFE = {"received": "queued", "queued": "in_progress", "in_progress": "completed"}
STATUSES = AI_OUTBOUND.strategy.statuses  # type: ignore[union-attr]


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
        once = whole + len(STATUSES) + len(open_here) + len(gone)
        return ATTEMPTS * once + 2 * whole if gone or self.source.manners.order == "id" else once

    def most_openings(self) -> int:
        return 2 * (ATTEMPTS + 2 * UNITED_PASSES) + self.MOST_LEARNING

    def check(self, ended: EndedReading) -> None:
        if ended.outcome and ended.outcome.certified and not ended.swapped:
            assert ended.outcome.through == ended.reading.now
            claims.assert_rows_are_current(self.source, self.store, ended.reading.now)


TestOutreach = Outreach.TestCase
TestOutreach.settings = settings(stateful_step_count=8)
