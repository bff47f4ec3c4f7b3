"""What is saved together is stored together, as many saves at a time as their order allows."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from itertools import groupby

from pipelines.core.pages import Changes
from pipelines.core.steps import AttachDetails, Learnt, MergeRows, MissingRecords, MoveCursor, ReplaceDays, Save
from pipelines.loading.context import Commit
from pipelines.loading.control.lookups import keep_missing
from pipelines.loading.control.state import keep_certificates, keep_cursors, keep_learnt
from pipelines.loading.merge import merge_rows
from pipelines.loading.phone_calls.days import replace_days
from pipelines.loading.phone_calls.details import attach_details
from pipelines.loading.phone_calls.times import days_between


def store(works: Sequence[tuple[Commit, Sequence[Save]]]) -> list[Changes]:
    """Store the data of these lists, then the certificates that prove it and the cursors that follow from them."""
    changes = [_store_rows(commit, saves) + _store_days(commit, saves) for commit, saves in works]
    saved = [(commit, save) for commit, saves in works for save in saves]
    keep_certificates([(commit, save.certificate) for commit, save in saved if save.certificate])
    keep_cursors([(commit, save) for commit, save in saved if isinstance(save, MoveCursor)])
    keep_learnt([(commit, save) for commit, save in saved if isinstance(save, Learnt)])
    return changes


def source_clock(work: Sequence[Save]) -> datetime:
    """The latest time that the source has told in this work; this machine's where it has told none."""
    read = [save.read_at for save in work if isinstance(save, MergeRows | ReplaceDays | MissingRecords)]
    proved = [save.certificate.finished for save in work if save.certificate]
    return max([*read, *proved], default=datetime.now(UTC))


def _store_rows(commit: Commit, work: Sequence[Save]) -> Changes:
    changes = Changes()
    saves = [save for save in work if isinstance(save, MergeRows | MissingRecords)]
    for _, neighbours in groupby(saves, key=type):
        batch = list(neighbours)
        changes += merge_rows(commit, [save for save in batch if isinstance(save, MergeRows)])
        changes += keep_missing(commit, [save for save in batch if isinstance(save, MissingRecords)])
    return changes


def _store_days(commit: Commit, work: Sequence[Save]) -> Changes:
    changes = Changes()
    for batch in _rounds([save for save in work if isinstance(save, ReplaceDays | AttachDetails)]):
        changes += replace_days(commit, [save for save in batch if isinstance(save, ReplaceDays)])
        changes += attach_details(commit, [save for save in batch if isinstance(save, AttachDetails)])
    return changes


def _rounds(
    saves: Sequence[ReplaceDays | AttachDetails],
) -> Iterator[list[ReplaceDays | AttachDetails]]:
    """Cut the work so that within a round no day is replaced after anything else was done to it.

    Then all days of a round can be replaced at once, and details attached to all of them after that.
    """
    current: list[ReplaceDays | AttachDetails] = []
    seen: set[date] = set()
    for save in saves:
        days = days_between(save.first_day, save.last_day)
        if isinstance(save, ReplaceDays) and not seen.isdisjoint(days):
            yield current
            current, seen = [], set()
        current.append(save)
        seen.update(days)
    if current:
        yield current
