"""The claim of a certificate (docs/lossless.md), and a check against a model source and a model store.

A reading begins at B, by the source's clock, and ends at E; a window of it is read from S, its first answer, to F,
its last one. A row is *there* from one instant to another if the source had it all that time, in any versions; a
version *stands* that long if it was not changed.

1. A certified window: every row that was there, inside the window, from S to F, is stored, in a version that it
had at S or later. So the window equals the source as it was at one instant between S and F, except for rows that
came, left or changed meanwhile.
2. A list certified through T: every version that stood from B to E, and was updated before T if the list shows the
time of the update, is stored unchanged. Lists whose rows are all read in each reading claim more: every row that
was there from B to E is stored, in a version that it had at B or later.
3. A cursor (lists with a date filter), also after an uncertain or killed reading: every version that the source
showed when the reading that last moved the cursor began, and that still stands, is stored if it was updated before
the cursor.
4. A row is marked as deleted only if it was not there at some instant between B and E.
5. Every stored row was a version of the source at some time.

Not claimed: that a sync notices deletions (reconcile does), that changes during a reading are stored (the next
reading stores them), and changes that no reading can see from outside: in a list without date filter, and in the
tail, a deletion and an insertion between the same two requests (`docs/lossless.md`).
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise

from support.model_source import ModelSource, Version
from support.model_store import ModelStore
from vetl.core.pages import Certificate, Row, instant

Where = Callable[[Row], bool]
"""Return whether a claim is about this version."""


def everything(_: Row) -> bool:
    return True


def in_window(certificate: Certificate) -> Where:
    """Return whether a row has the window's status and lies strictly inside it: bounds may be included or not."""
    start, end, status = certificate.window.start, certificate.window.end, certificate.window.status

    def inside(row: Row) -> bool:
        if status is not None and row.get("status") != status:
            return False
        at = instant(row.get("updated_at", row["created_at"]))
        assert at is not None
        return not (isinstance(start, datetime) and at <= start) and not (isinstance(end, datetime) and at >= end)

    return inside


def there(
    source: ModelSource, since: datetime, until: datetime, where: Where = everything
) -> Iterator[tuple[str, Sequence[Version]]]:
    """Return rows that the source had all that time, always in that place; with their versions of that time."""
    for identity, versions in source.versions.items():
        during = [item for item in versions if item.since <= until and (item.until is None or item.until > since)]
        unbroken = all(before.until == after.since for before, after in pairwise(during))
        whole = during and during[0].since <= since and (during[-1].until is None or during[-1].until > until)
        if whole and unbroken and all(where(item.row) for item in during):
            yield identity, during


def assert_window_is_whole(source: ModelSource, store: ModelStore, certificate: Certificate) -> None:
    """Assert claim 1."""
    for identity, versions in there(source, certificate.started, certificate.finished, in_window(certificate)):
        assert_no_older_than(source, store, versions[0], identity, f"{certificate}")


def assert_rows_are_current(source: ModelSource, store: ModelStore, began: datetime) -> None:
    """Assert claim 2, of lists whose rows all come in each reading."""
    for identity, versions in there(source, began, source.now):
        assert_no_older_than(source, store, versions[0], identity, f"a reading that began at {began}")


def assert_versions_are_here(
    source: ModelSource, store: ModelStore, began: datetime, where: Where, *, but: Sequence[str] = ()
) -> None:
    """Assert claims 2 and 3. `but` are fields without a claim."""
    for identity, versions in there(source, began, source.now, where):
        if len(versions) == 1:
            expected = _without(versions[0].row, but)
            here = _without(store.rows.get(identity, {}), but)
            assert expected == here, f"{identity} is certified since {began} and here as {here}"


def assert_no_false_deletion(source: ModelSource, gone: set[str], began: datetime) -> None:
    """Assert claim 4."""
    wrong = gone & {identity for identity, _ in there(source, began, source.now)}
    assert not wrong, f"{wrong} were there all the time and are marked as deleted"


def assert_nothing_is_invented(source: ModelSource, store: ModelStore) -> None:
    """Assert claim 5."""
    for identity, row in store.rows.items():
        assert any(version.row == row for version in source.versions[identity])


def assert_no_older_than(
    source: ModelSource, store: ModelStore, version: Version, identity: str, claim: str
) -> None:
    versions = source.versions[identity]
    here = store.rows.get(identity)
    later = versions[versions.index(version) :]
    allowed = [item.row for item in later]
    assert here in allowed or (here is None and _gone(later)), (
        f"{identity} is here as {here}, at least {version.row} was certified by {claim}"
    )


def _gone(versions: Sequence[Version]) -> bool:
    """Return whether the row was deleted after the first of these versions; then it may be missing here, too."""
    follow = [*(version.since for version in versions[1:]), None]
    return any(version.until != since for version, since in zip(versions, follow, strict=True))


def _without(row: Row, fields: Sequence[str]) -> Row:
    return {name: value for name, value in row.items() if name not in fields}
