"""`vetl watch`: the thresholds and their state."""

from collections.abc import Sequence
from typing import Any

from vetl.addons.watch.job import judge, unknown_notices
from vetl.addons.watch.settings import WatchSettings
from vetl.addons.watch.watching import Watched, amount
from vetl.cli.commands import AsJson, Commands
from vetl.cli.terminal import TableColumn, count, mention, print_aside, print_json, print_table, say
from vetl.settings import load_settings

COLUMNS = (TableColumn("threshold", 2), "practice", "state", "last closed", TableColumn("value", 1))

app = Commands()


@app.command(examples="vetl watch")
def watch(as_json: AsJson = False) -> int:
    """Show the thresholds of [watch] and who is outside of them."""
    settings = load_settings()
    found = judge(settings)
    if as_json:
        print_json({"exit_code": 0, "thresholds": [*map(_state_json, found)]})
        return 0
    if not WatchSettings.of(settings).thresholds:
        mention("no threshold is set: [watch] thresholds in vetl.toml; headlines need none")
    if unknown := unknown_notices(settings):
        say(f"of {count(unknown, 'notice')} it is not known whether they arrived: vetl was killed while they left")
    _show_thresholds(found)
    return 0


def _show_thresholds(found: Sequence[Watched]) -> None:
    rows = []
    for one in found:
        value = amount(one.judged[-1].value.value, one.unit) if one.judged else ""
        state = one.judged[-1].judgement if one.judged else "nothing closed"
        state = f"out since {one.open.began}" if one.open else state
        rows.append((one.threshold.rule, one.practice_id, state, one.through or "", value))
    print_table(f"{count(sum(one.open is not None for one in found), 'threshold')} out", COLUMNS, rows)
    if found:
        print_aside("a closed period is over, read whole and final")


def _state_json(one: Watched) -> dict[str, Any]:
    last = one.judged[-1] if one.judged else None
    return {
        "threshold": one.threshold.rule,
        "measure": one.threshold.measure,
        "practice_id": one.practice_id,
        "state": "out" if one.open else last.judgement if last else "unknown",
        "out_since": one.open.began if one.open else None,
        "last_closed": one.through,
        "value": last.value.value if last else None,
    }
