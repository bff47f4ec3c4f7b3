"""`vetl forecast`: predict the calls of the next 14 days, once for each practice and day."""

from collections.abc import Sequence
from dataclasses import asdict

from vetl.addons.forecast.job import forecast as predict
from vetl.cli.commands import AsJson, Commands
from vetl.cli.terminal import TableColumn, count, print_aside, print_json, print_table
from vetl.settings import load_settings

COLUMNS: Sequence[str | TableColumn] = ("practice", "forecast", TableColumn("from", 1))

app = Commands()


@app.command(
    examples="""
        vetl forecast
        vetl forecast --json"""
)
def forecast(as_json: AsJson = False) -> int:
    """Predict the calls of the next 14 days, by practice and hour."""
    done = predict(load_settings())
    if as_json:
        print_json({"exit_code": 0, **asdict(done)})
        return 0
    rows = [(name, "14 days", f"{weeks} weeks of calls") for name, weeks in done.practices.items()]
    rows += [(name, "none", reason) for name, reason in done.without.items()]
    print_table(f"{count(done.hours, 'hour')} predicted", COLUMNS, rows)
    if done.hours:
        print_aside("vetl build shows them in marts.calls_forecast")
    elif done.practices:
        print_aside("the forecast of today is there already; each practice has one a day")
    return 0
