"""Print the result of each command for people."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from vetl.cli.commands import WHOLE_DAYS, local, zone
from vetl.cli.output import say
from vetl.cli.status import masked_words_in_words
from vetl.cli.terminal import (
    MANY_PRACTICES,
    Columns,
    TableColumn,
    count,
    print_aside,
    print_items,
    print_line,
    short,
)
from vetl.core.list_read import EndpointResult, Practice, State, SyncResult
from vetl.core.pages import Changes
from vetl.jobs.dbt_process import BuildResult
from vetl.jobs.drain import DrainResult
from vetl.publishing.publication import Published
from vetl.settings.core_sections import WEAK_KEY

STATES_IN_ORDER: tuple[State, ...] = ("failed", "uncertified", "withdrawn", "certified")
"""The states, the worst first."""


SYNC_COLUMNS: Columns[EndpointResult] = {
    "practice": attrgetter("practice_id"),
    "list": attrgetter("endpoint"),
    "state": attrgetter("state"),
    "certified until": lambda item: local(item.certified_through),
    TableColumn("rows", 1): attrgetter("rows"),
    TableColumn("new", 2): attrgetter("changes.inserted"),
    TableColumn("changed", 3): attrgetter("changes.updated"),
    TableColumn("deleted", 4): attrgetter("changes.deleted"),
    TableColumn("requests", 5): attrgetter("requests"),
}


def _columns_of_practices(names: Mapping[str, str]) -> Columns[Sequence[EndpointResult]]:
    """Return the columns of a table with a row for the lists of each practice."""

    def total(name: str) -> Callable[[Sequence[EndpointResult]], object]:
        return lambda results: sum(map(attrgetter(name), results))

    return {
        "practice": lambda results: results[0].practice_id,
        TableColumn("name", 3): lambda results: names.get(results[0].practice_id, ""),
        "state": lambda results: min((item.state for item in results), key=STATES_IN_ORDER.index),
        TableColumn("certified", 2): lambda results: (
            f"{sum(item.state == 'certified' for item in results)} of {len(results)}"
        ),
        TableColumn("rows", 1): total("rows"),
        TableColumn("new", 4): total("changes.inserted"),
        TableColumn("changed", 5): total("changes.updated"),
        TableColumn("deleted", 6): total("changes.deleted"),
        TableColumn("requests", 7): total("requests"),
    }


def show_sync(result: SyncResult, practices: Sequence[Practice], verb: str = "Synced") -> None:
    """Print the totals, a row for each list (or for each practice, if there are many), and the problems."""
    by_practice = [list(group) for _, group in groupby(result.results, key=attrgetter("practice_id"))]
    if len(by_practice) > MANY_PRACTICES:
        names = {item.id: item.name for item in practices}
        print_items(sync_summary(result, verb), _columns_of_practices(names), by_practice)
        print_aside("`vetl status --all` shows every list, `vetl status --problems` those with a problem")
    else:
        print_items(sync_summary(result, verb), SYNC_COLUMNS, result.results)
        print_aside(f"times in {zone()}; the platform's clock is at {local(result.source_clock)}")
        if any(item.endpoint == "phone_calls" for item in result.results):
            print_aside(WHOLE_DAYS)
    for item in result.results:
        where = f"{item.practice_id} {item.endpoint}"
        if item.state != "certified":
            say(f"{where}: {item.state}: {item.reason}")
        if item.held:
            say(f"{where}: {count(item.held, 'row')} quarantined; see `vetl quarantine list`")
        for note in item.notes:
            say(f"{where}: {note}")
    for line in (*result.doubts, *result.notes):
        say(line)


def sync_summary(result: SyncResult, verb: str) -> str:
    """Return `Synced 14 lists of 2 practices: 14 certified; 423 rows new, 12 changed, 0 deleted, 611 requests`."""
    states = Counter(item.state for item in result.results)
    practices = len({item.practice_id for item in result.results})
    changes = sum((item.changes for item in result.results), Changes())
    by_state = ", ".join(f"{states[state]} {state}" for state in STATES_IN_ORDER if states[state])
    rows = f"{count(changes.inserted, 'row')} new, {changes.updated:,} changed, {changes.deleted:,} deleted"
    requests = count(sum(item.requests for item in result.results), "request")
    of = f"{count(len(result.results), 'list')} of {count(practices, 'practice')}"
    return f"{verb} {of}: {by_state}; {rows}, {requests}"


def show_drain(result: DrainResult) -> None:
    """Print the changes that webhooks brought, and the notes about missed webhooks."""
    changes = result.changes
    print_line(
        f"Drained {count(result.deliveries, 'webhook')}, asked for {result.requested:,} by id:"
        f" {count(changes.inserted, 'row')} new, {changes.updated:,} changed, {changes.unchanged:,} unchanged,"
        f" {changes.quarantined:,} quarantined"
    )
    for note in (*result.notes, *changes.drift):
        say(note)


def show_build(result: BuildResult) -> None:
    """Print the result of dbt, with one line for each warning and each failed node."""
    for warning in result.warnings:
        say(f"warning: {warning}")
    for failure in result.failures:
        say(f"failed: {failure}")
    if any("unique" in failure for failure in result.failures):
        say("`vetl reconcile` repairs rows that are stored twice")
    skipped = f", {result.skipped} skipped" if result.skipped else ""
    print_line(
        f"Built in {result.seconds:.1f} s: {result.succeeded} models and tests succeeded,"
        f" {count(len(result.warnings), 'warning')}, {len(result.failures)} failed{skipped}"
    )
    if result.because:
        print_aside(f"made: {result.because}")


def show_published(published: Published) -> None:
    """Print the number of published marts and rows, and the treatment of personal data."""
    rows = sum(published.tables.values())
    print_line(f"Published {count(len(published.tables), 'mart')}, {count(rows, 'row')}: {short(published.path)}")
    if published.masked:
        print_aside(f"masked: {count(len(published.masked), 'column')} with personal data")
    if published.clear:
        say(f"warning: published in clear, by [privacy] of vetl.toml: {', '.join(published.clear)}")
    if published.weak_key:
        say(f"warning: {WEAK_KEY}")
    if published.masked_words:
        print_aside(masked_words_in_words(published.masked_words))
    for mart in published.left_out:
        say(f"warning: {mart} was left out: no model of vetl builds it")
