"""Read one list until it is proven whole: strategies are pure generators of `vetl.core.steps`, without I/O.

`read_list` reads a list with the strategy that its endpoint declares, after the parameters that it needs are
discovered: `updated_windows`, `undated_lists`, `rows_by_id`, or `call_schedule` with `call_days` and
`call_details`. They stand on `paging` (one pass), `certified` (a window), `whole_list` and `coverage` (the
cursors). All that is learnt about a server comes from `vetl.discovery`.
"""

from dataclasses import replace

from vetl.core.endpoint import ByReference, DateWindows, FullScan, Kind, NewestFirst, Received, UpdatedWindows
from vetl.core.errors import Failing, RequestRefused, TooSlow, WrongUse
from vetl.core.list_read import KEYS, Capabilities, Outcome, Reading
from vetl.core.steps import Flush, Learnt, Plan
from vetl.discovery import identity
from vetl.discovery.conventions import conventions_of
from vetl.discovery.discover import discover
from vetl.discovery.first_look import reusing
from vetl.reading.call_schedule import read_call_days
from vetl.reading.rows_by_id import read_by_reference
from vetl.reading.undated_lists import read_full_scan, read_newest_first
from vetl.reading.updated_windows import read_updated_windows

READ_AS = "times_without_offset"
"""The capability with the setting under which the times of the stored rows were read; empty: under both."""
SETTING = "[partner] times_without_offset"


def read_list(reading: Reading) -> Plan[Outcome]:
    """Run the strategy of a list; read all of it if the setting of times without an offset has changed since.

    Raise `ConfigurationError` or `RequestRefused` if the server refuses the list in every form; `WrongUse` if the
    endpoint has no list.
    """
    read_as = reading.times_without_offset or "utc"
    has_times = any(column.kind is Kind.INSTANT for column in reading.endpoint.columns())
    if not has_times or read_as == reading.capabilities.get(READ_AS, "utc"):
        return (yield from _read_list(reading))
    # The stored times are hours off, and so are the certified windows, until one read has all rows again.
    yield Learnt(READ_AS, "", SETTING)
    outcome = yield from _read_list(replace(reading, reconcile="full") if reading.cursor else reading)
    if outcome.certified:
        yield Learnt(READ_AS, read_as, SETTING)
        yield Flush()
    return outcome


def _read_list(reading: Reading) -> Plan[Outcome]:
    match reading.endpoint.strategy:
        case DateWindows() as strategy:
            return (yield from read_call_days(reading, strategy))
        case ByReference() as strategy:
            return (yield from read_by_reference(reading, strategy))
        case Received():
            raise WrongUse(f"{reading.endpoint.name} has no list to read: it is received by webhook")
        case _:
            return (yield from _discovered(reading))


def _discovered(reading: Reading) -> Plan[Outcome]:
    """Discover the query parameters of a list that the contract does not show, then read the list.

    If the list is refused, too slow, or cannot be certified although its parameters were known from earlier syncs,
    they are examined again, and if the result differs, the list is read again: the server may have changed, or
    accept no end in the future, which no early end shows. If the platform fails on the first look, perhaps on one
    row, the list is read with the parameters that are proven by then.
    """
    try:
        discovered = yield from discover(reading)
    except Failing:
        outcome = yield from _running(reading, Capabilities.of(reading.capabilities, reading.names))
        return (yield from identity.look_last(reading, outcome)) if outcome.certified else outcome
    capabilities, pages = discovered.capabilities, discovered.pages
    ids = yield from identity.look_first(reading, capabilities, discovered.ids)
    if ids.verdict == "changing":
        yield Flush()
        return identity.unstable_outcome(ids)
    if ids.verdict == "stable" and identity.were_changing(reading.capabilities):
        reading = identity.from_scratch(reading)
        capabilities = (yield from discover(reading)).capabilities
    try:
        outcome = yield from reusing(pages, _running(reading, capabilities))
    except (RequestRefused, TooSlow):
        again = (yield from discover(reading, KEYS)).capabilities
        if again == capabilities:
            raise
        return (yield from _running(reading, again))
    doubts = outcome.suspects if outcome.certified else ("page", "per_page", *outcome.suspects)
    if reading.reconcile == "full" or not set(doubts) & set(reading.capabilities):
        return outcome
    try:
        again = (yield from discover(reading, doubts)).capabilities
    except Failing:
        if outcome.certified:
            raise
        return outcome
    return outcome if again == capabilities else (yield from _running(reading, again))


def _running(reading: Reading, capabilities: Capabilities) -> Plan[Outcome]:
    conventions = conventions_of(reading, capabilities)
    match reading.endpoint.strategy:
        case UpdatedWindows() as strategy:
            outcome = yield from read_updated_windows(reading, strategy, conventions)
        case NewestFirst() as strategy:
            outcome = yield from read_newest_first(reading, strategy, conventions)
        case FullScan() as strategy:
            outcome = yield from read_full_scan(reading, strategy, conventions)
        case other:
            raise AssertionError(other)
    notes = [f"{reading.endpoint.name}: {words}" for words in capabilities.overruled(reading.endpoint.names)]
    return replace(outcome, notes=(*outcome.notes, *notes))
