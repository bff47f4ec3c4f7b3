"""`vetl act`: the plan, applying it, and the state of what was applied."""

from collections import Counter
from collections.abc import Iterable, Sequence
from textwrap import indent
from typing import Annotated, Any

import typer

from vetl.addons.act.act_files import plan_json
from vetl.addons.act.acts import Act, HeldBack, LedgerEntry, is_message
from vetl.addons.act.job import apply_acts, plan_acts
from vetl.addons.act.ledger import ActStatus, act_status
from vetl.addons.act.settings import ActSettings
from vetl.cli.commands import AsJson, Commands, Practices, local, zone
from vetl.cli.terminal import TableColumn, count, mention, print_aside, print_json, print_line, print_table, say
from vetl.settings import load_settings

PLAN_COLUMNS = ("practice", "kind", "title", TableColumn("client", 2), TableColumn("episode", 1))
STATUS_COLUMNS = (
    "practice",
    "state",
    TableColumn("asked", 2),
    TableColumn("task", 1),
    TableColumn("found by", 4),
    TableColumn("note", 3),
)
UNCERTAIN = frozenset({"uncertified", "too_old", "not_built"})
"""Reasons that are about the data and not about one booking request: the exit code is then 3."""


app = Commands()


@app.command(
    examples="""
        vetl act plan
        vetl act plan --practice loc-001 --json"""
)
def plan(practice: Practices = None, as_json: AsJson = False) -> int:
    """Show the tasks that would be made, and why; no request leaves."""
    settings = load_settings()
    made = plan_acts(settings, practice)
    code = 3 if any(item.reason in UNCERTAIN for item in made.held_back) else 0
    if as_json:
        print_json({"exit_code": code, **plan_json(made)})
        return code
    rows = [
        (act.practice_id, act.kind, act.title or act.description, act.client_id or "", act.episode_id)
        for act in made.acts
    ]
    print_table(f"{_counted(made.acts)} would be made", PLAN_COLUMNS, rows)
    if made.acts:
        print_aside("the text of the first:")
        print_aside(indent(made.acts[0].description, "  "))
    if made.cancellations:
        print_aside(f"{count(len(made.cancellations), 'task')} would be canceled: the client has booked meanwhile")
    _show_held_back(made.held_back)
    if not ActSettings.of(settings).enabled:
        print_line("acting is off: set [act] enabled and practices in vetl.toml; docs/act.md shows how to begin")
    else:
        print_line(f"digest: {made.digest}; `vetl act apply {made.digest}` does this")
    return code


@app.command(examples="vetl act apply 0123456789abcdef")
def apply(
    digest: Annotated[str, typer.Argument(metavar="DIGEST", help="The digest of a plan.")], as_json: AsJson = False
) -> int:
    """Make the tasks of a plan, or go on with it."""
    result = apply_acts(load_settings(), digest)
    if as_json:
        held = {"held_back_because": _reasons(result.held_back)}
        lines = {"failures": result.failures, "doubts": result.doubts}
        print_json({**result.counts, **held, **lines, "exit_code": result.exit_code})
        return result.exit_code
    print_table("", tuple(result.counts), [tuple(result.counts.values())])
    _show_held_back(result.held_back)
    for line in (*result.failures, *result.doubts):
        say(line, "warning")
    if result.unknown:
        say(
            f"of {count(result.unknown, 'request')} it is not known whether the platform made the task; it is not"
            f" sent again before a read proves that it did not: run `vetl act apply {digest}` again later"
        )
    return result.exit_code


@app.command(examples="vetl act status")
def status(
    every: Annotated[bool, typer.Option("--all", help="List every act.")] = False, as_json: AsJson = False
) -> int:
    """Count the acts by state; no request leaves."""
    found = act_status(load_settings())
    if as_json:
        acts = [_entry_json(entry) for entry in found.entries]
        counts = {"counts": found.counts, "overdue": len(found.overdue)}
        print_json({"exit_code": found.exit_code, **counts, "acts": acts})
        return found.exit_code
    acts = found.entries if every else found.noteworthy
    print_table(f"{count(len(found.entries), 'act')}", *_by_practice(found))
    if acts:
        rows = [
            (
                entry.act.practice_id,
                entry.state.value,
                local(entry.asked_at) if entry.asked_at else "",
                entry.task_id or "",
                entry.found_by or "",
                entry.note,
            )
            for entry in acts
        ]
        print_table("" if every else "Acts to look at", STATUS_COLUMNS, rows)
        print_aside(f"times in {zone()}")
    elif found.entries:
        print_aside("`vetl act status --all` lists each act")
    if found.entries:
        print_aside("`vetl query --question acting-tasks` shows what came of the tasks")
    if found.overdue:
        say(f"{count(len(found.overdue), 'request')} unknown for longer than a day; look at the task list by hand")
    if not found.entries:
        mention("nothing was applied yet; `vetl act plan` shows what would be")
    return found.exit_code


def _by_practice(found: ActStatus) -> tuple[tuple[str, ...], list[tuple[str | int, ...]]]:
    """Return the columns and rows of a table: the acts of each practice by state, without states of no act."""
    states = [state for state, number in found.counts.items() if number]
    counts = Counter((entry.act.practice_id, entry.state.value) for entry in found.entries)
    practices = sorted({entry.act.practice_id for entry in found.entries})
    return ("practice", *states), [(name, *(counts[name, state] for state in states)) for name in practices]


def _counted(acts: Sequence[Act]) -> str:
    messages = sum(is_message(act.kind) for act in acts)
    tasks = len(acts) - messages
    parts = [count(tasks, "staff task")] if tasks or not messages else []
    return " and ".join(parts + ([count(messages, "message")] if messages else []))


def _entry_json(entry: LedgerEntry) -> dict[str, Any]:
    act = {name: getattr(entry.act, name) for name in ("practice_id", "episode_id", "kind", "code")}
    came_of_it = ("planned_at", "asked_at", "task_id", "found_by", "note")
    return {**act, "state": entry.state.value, **{name: getattr(entry, name) for name in came_of_it}}


def _reasons(held_back: Iterable[HeldBack]) -> dict[str, int]:
    return dict(Counter(item.reason for item in held_back).most_common())


def _show_held_back(held_back: Sequence[HeldBack]) -> None:
    reasons = _reasons(held_back)
    if reasons:
        print_table(
            f"{count(len(held_back), 'booking request')} held back", ("reason", "requests"), [*reasons.items()]
        )
