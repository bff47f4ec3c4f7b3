"""`vetl watch`: the thresholds and their state, and how often each would have rung."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any

import typer

from vetl.addons.watch.job import judge, unknown_notices
from vetl.addons.watch.settings import WatchSettings
from vetl.addons.watch.watching import Episode, Watched, amount, first_line, line
from vetl.cli.commands import Commands
from vetl.cli.options import AsJson
from vetl.cli.output import mention, say
from vetl.cli.terminal import TableColumn, count, print_aside, print_json, print_table
from vetl.settings import load_settings

COLUMNS = (
    TableColumn("threshold", 2),
    "practice",
    "state",
    "last closed",
    TableColumn("value", 1),
    TableColumn("usual", 3),
)
BACKTEST_COLUMNS = (
    TableColumn("threshold", 1),
    "practice",
    "rings",
    TableColumn("a month", 2),
    TableColumn("periods", 3),
)
_DAYS_A_MONTH = 365.25 / 12

app = Commands()


@app.command(
    examples="""
        vetl watch
        vetl watch --since 2026-01-01"""
)
def watch(
    since: Annotated[
        datetime | None,
        typer.Option("--since", formats=["%Y-%m-%d"], metavar="DATE", help="How often each would have rung."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Show the thresholds of [watch] and who is outside of them."""
    settings = load_settings()
    if not WatchSettings.of(settings).thresholds:
        mention("no threshold is set: [watch] thresholds in vetl.toml")
    found = judge(settings)
    unknown = unknown_notices(settings)
    if unknown and not as_json:
        say(f"of {count(unknown, 'notice')} it is not known whether they arrived: vetl was killed while they left")
    if since:
        first = since.date()
        tests = [_backtest(one, first) for one in found]
        _print_json(map(_test_json, tests), first) if as_json else _show_backtest(tests, first)
    else:
        _print_json(map(_state_json, found), None) if as_json else _show_thresholds(found)
    return 0


@dataclass(frozen=True, slots=True)
class Backtest:
    """The episodes of a threshold at a practice that rang since a day, among the closed periods since then."""

    watched: Watched
    rings: Sequence[Episode]
    periods: int

    @property
    def a_month(self) -> float:
        """Return how often it rang a month."""
        days = self.periods * (7 if self.watched.threshold.by == "week" else 1)
        return len(self.rings) / days * _DAYS_A_MONTH if days else 0.0


def _backtest(one: Watched, since: date) -> Backtest:
    periods = sum(judged.value.start >= since for judged in one.judged)
    return Backtest(one, [episode for episode in one.episodes if episode.rings_at >= since], periods)


def _show_thresholds(found: Sequence[Watched]) -> None:
    rows = []
    for one in found:
        last = one.judged[-1] if one.judged else None
        usual = amount(last.usual.usual, one.unit) if last and last.usual else ""
        value = amount(last.value.value, one.unit) if last else ""
        rows.append((one.threshold.rule, one.practice_id, _state(one), one.through or "", value, usual))
    print_table(f"{count(sum(one.open is not None for one in found), 'threshold')} out", COLUMNS, rows)
    if found:
        print_aside("a closed period is over, read whole and final; vetl watch --since DATE tests the thresholds")


def _state(one: Watched) -> str:
    if one.open:
        return f"out since {one.open.began}"
    return _judgement(one, "nothing closed")


def _judgement(one: Watched, without: str) -> str:
    """Return the judgement about the last closed period: a value near to the end of the usual ones is in."""
    last = one.judged[-1].judgement if one.judged else without
    return "in" if last == "near" else last


def _show_backtest(tests: Sequence[Backtest], since: date) -> None:
    rows = [
        (
            test.watched.threshold.rule,
            test.watched.practice_id,
            len(test.rings),
            round(test.a_month, 2),
            test.periods,
        )
        for test in tests
    ]
    rings = sum(len(test.rings) for test in tests)
    print_table(f"since {since}: {count(rings, 'notice')} would have been sent", BACKTEST_COLUMNS, rows)
    for test in tests:
        for episode in test.rings:
            print_aside(f"{episode.rings_at}: {first_line(test.watched, episode)}")


def _print_json(items: Iterable[dict[str, Any]], since: date | None) -> None:
    print_json({"exit_code": 0, "since": since, "thresholds": list(items)})


def _state_json(one: Watched) -> dict[str, Any]:
    last = one.judged[-1] if one.judged else None
    return {
        **_names(one),
        "state": "out" if one.open else _judgement(one, "unknown"),
        "out_since": one.open.began if one.open else None,
        "last_closed": one.through,
        "value": last.value.value if last else None,
        "usual": last.usual.usual if last and last.usual else None,
    }


def _test_json(test: Backtest) -> dict[str, Any]:
    rings = [
        {
            "rang_at": episode.rings_at,
            "began": episode.began,
            "ended": episode.ended,
            "line": line(test.watched, episode),
        }
        for episode in test.rings
    ]
    return {**_names(test.watched), "periods": test.periods, "a_month": round(test.a_month, 3), "rings": rings}


def _names(one: Watched) -> dict[str, Any]:
    return {"threshold": one.threshold.rule, "measure": one.threshold.measure, "practice_id": one.practice_id}
