"""Print the result of each command for people."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

from vetl.cli.output import say
from vetl.cli.status import masked_words_in_words
from vetl.cli.terminal import MANY_PRACTICES, TableColumn, count, print_aside, print_line, print_table, short
from vetl.cli.times import WHOLE_DAYS, local, zone
from vetl.core.pages import Changes
from vetl.core.practice import Practice
from vetl.core.results import EndpointResult, State, SyncResult
from vetl.jobs.build import WEAK_KEY
from vetl.jobs.dbt_process import BuildResult
from vetl.jobs.drain import DrainResult
from vetl.publishing.publication import Published
from vetl.publishing.statements import QueryResult

SYNC_COLUMNS = (
    "practice",
    "list",
    "state",
    "certified until",
    TableColumn("rows", 1),
    TableColumn("new", 2),
    TableColumn("changed", 3),
    TableColumn("deleted", 4),
    TableColumn("requests", 5),
)
PRACTICE_COLUMNS = (
    "practice",
    TableColumn("name", 3),
    "state",
    TableColumn("certified", 2),
    TableColumn("rows", 1),
    TableColumn("new", 4),
    TableColumn("changed", 5),
    TableColumn("deleted", 6),
    TableColumn("requests", 7),
)
STATES_IN_ORDER: tuple[State, ...] = ("failed", "uncertified", "withdrawn", "certified")
"""The states, the worst first."""


def show_sync(result: SyncResult, practices: Sequence[Practice], verb: str = "Synced") -> None:
    """Print the totals, a row for each list (or for each practice, if there are many), and the problems."""
    by_practice = {name: list(group) for name, group in groupby(result.results, key=attrgetter("practice_id"))}
    if len(by_practice) > MANY_PRACTICES:
        names = {item.id: item.name for item in practices}
        rows = [_practice_row(names.get(name, ""), group) for name, group in by_practice.items()]
        print_table(sync_summary(result, verb), PRACTICE_COLUMNS, rows)
        print_aside("`vetl status --all` shows every list, `vetl status --problems` those with a problem")
    else:
        print_table(sync_summary(result, verb), SYNC_COLUMNS, [_sync_row(item) for item in result.results])
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


def _practice_row(name: str, results: Sequence[EndpointResult]) -> tuple[object, ...]:
    changes = sum((item.changes for item in results), Changes())
    certified = sum(item.state == "certified" for item in results)
    return (
        results[0].practice_id,
        name,
        min((item.state for item in results), key=STATES_IN_ORDER.index),
        f"{certified} of {len(results)}",
        sum(item.rows for item in results),
        changes.inserted,
        changes.updated,
        changes.deleted,
        sum(item.requests for item in results),
    )


def _sync_row(item: EndpointResult) -> tuple[object, ...]:
    changes = item.changes
    return (
        item.practice_id,
        item.endpoint,
        item.state,
        local(item.certified_through),
        item.rows,
        changes.inserted,
        changes.updated,
        changes.deleted,
        item.requests,
    )


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


def show_answer(title: str, answer: QueryResult) -> None:
    """Print the rows of a statement as a table."""
    print_table(title, answer.columns, answer.rows)


def as_records(answer: QueryResult) -> list[dict[str, Any]]:
    """Return each row as a mapping from column name to value."""
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
