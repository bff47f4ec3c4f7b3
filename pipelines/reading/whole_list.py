"""Reading a whole list that no window divides, and what has vanished from it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pipelines.core.pages import Window, WindowKind
from pipelines.core.steps import (
    Flush,
    IdsHere,
    MergeRows,
    MissingRecords,
    Plan,
    do,
)
from pipelines.reading.certified import RE_READS_OF_A_LIE, UNITED_PASSES, are_unmoved
from pipelines.reading.conventions import QueryConventions
from pipelines.reading.paging import (
    Pass,
    certificate,
    read_pass,
    uncertified,
    united,
)

WHOLE = Window()
PAGES_OF_A_MOVING_LIST = 20


@dataclass(frozen=True, slots=True)
class WholeList:
    """What became of reading a whole list: all its passes, and what they prove together."""

    passes: Sequence[Pass]
    certified: bool
    reason: str

    @property
    def last(self) -> Pass:
        """The latest pass."""
        return self.passes[-1]


def read_whole_list(
    conventions: QueryConventions,
    asked: Window = WHOLE,
    *,
    claimed: Window = WHOLE,
    sealed_before: datetime | None = None,
) -> Plan[WholeList]:
    """Read an unsplittable list until a pass, or several united under one total, prove it whole.

    `asked` is sent; `claimed` is what the certificate says to be here.

    It costs at most as many pages as 20 passes over the list as it was at first, and one pass more: a list that
    grows while it is read makes each pass longer than the one before. Where its total moves, passes cannot be
    united, and it costs twice the list and 20 pages.
    """
    passes: list[Pass] = []
    while not passes or sum(len(done.pages) for done in passes) < _most_pages(passes):
        done = replace((yield from read_pass(conventions, asked)), window=claimed)
        passes.append(done)
        if done.whole:
            evidence = certificate(done, WindowKind.WHOLE, retries=len(passes) - 1)
            yield MergeRows(done.rows, done.read_at, sealed_before, certificate=evidence)
            return WholeList(passes, True, f"the whole list: {done.finding}")
        yield MergeRows(done.rows, done.read_at, sealed_before)
        if together := _proven_together(passes):
            reason = f"the ids of {together} passes together match an unchanged total"
            evidence = replace(
                certificate(done, WindowKind.WHOLE, reason=reason), started=passes[-together].started
            )
            yield MergeRows((), done.read_at, certificate=evidence)
            return WholeList(passes, True, reason)
        if done.lie and len(passes) > RE_READS_OF_A_LIE:
            break
        conventions = replace(conventions, lenient=bool(done.lie))
    last = passes[-1]
    reason = f"{last.finding}, in {len(passes)} passes"
    evidence = uncertified(certificate(last, WindowKind.WHOLE, retries=len(passes) - 1), reason)
    yield MergeRows((), last.read_at, certificate=evidence)
    return WholeList(passes, False, reason)


def _most_pages(passes: Sequence[Pass]) -> int:
    once = len(passes[0].pages)
    return UNITED_PASSES * once if are_unmoved(passes) else 2 * once + PAGES_OF_A_MOVING_LIST


def _proven_together(passes: Sequence[Pass]) -> int:
    """How many of the latest passes, all steady under one total, hold that many distinct ids; 0 for none."""
    total = passes[-1].total
    for count in range(2, len(passes) + 1):
        latest = passes[-count:]
        if not all(done.steady and not done.lie and done.total == total for done in latest):
            return 0
        if len(united(latest)) == total:
            return count
    return 0


def mark_vanished(conventions: QueryConventions, whole: WholeList, asked: Window = WHOLE) -> Plan[None]:
    """Rows here that a certified read of the whole list did not meet, and a second one does not meet either."""
    yield Flush()
    if not whole.certified:
        return
    here = yield from do(IdsHere())
    gone = set(here) - united(whole.passes)
    if gone:
        again = yield from read_whole_list(conventions, asked)
        gone -= united(again.passes)
        if gone and again.certified:
            yield MissingRecords(sorted(gone), again.last.read_at)
        yield Flush()
