"""`vetl lake export`, and `vetl build --engine spark`."""

from dataclasses import asdict

from vetl.cli.commands import Commands
from vetl.cli.options import AsJson
from vetl.cli.progress import showing_nodes, waiting
from vetl.cli.terminal import count, print_json, print_line
from vetl.cli.views import show_build, show_published
from vetl.jobs.lake import run_export
from vetl.jobs.spark import build_on_spark as build_marts_on_spark
from vetl.settings import load_settings
from vetl.store.lake.export import Exported

_MEGABYTE = 1_000_000

app = Commands()


@app.command(examples="vetl lake export")
def export(as_json: AsJson = False) -> int:
    """Write the rows that changed since the last export."""
    with waiting("exporting"):
        exported = run_export(load_settings())
    if as_json:
        print_json({"exit_code": 0, "lake": asdict(exported)})
    else:
        print_line(_summary(exported))
    return 0


def build_on_spark(*, as_json: bool) -> int:
    """Run `vetl build --engine spark`: build from the lake, publish, and export the marts."""
    with showing_nodes() as advance:
        result = build_marts_on_spark(load_settings(), advance=advance)
    if as_json:
        print_json({"exit_code": result.build.exit_code, **asdict(result)})
        return result.build.exit_code
    show_build(result.build)
    if result.published and result.marts:
        show_published(result.published)
        print_line(_summary(result.marts))
    return result.build.exit_code


def _summary(lake: Exported) -> str:
    new = f"{count(lake.written, 'new file')} of {lake.written_bytes / _MEGABYTE:,.1f} MB"
    return f"{lake.location}: {count(lake.rows, 'row')} in {count(lake.files, 'file')}, {new}"
