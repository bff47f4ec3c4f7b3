"""`vetl lake export`, and `vetl build --engine spark`."""

from dataclasses import asdict

from vetl.addons.lake.job import line_of, run_export
from vetl.cli.commands import AsJson, Commands
from vetl.cli.progress import showing_nodes, waiting
from vetl.cli.publish import show_published
from vetl.cli.run import show_build
from vetl.cli.terminal import print_json, print_line
from vetl.settings import load_settings

app = Commands()


@app.command(examples="vetl lake export")
def export(as_json: AsJson = False) -> int:
    """Write the rows that changed since the last export."""
    with waiting("exporting"):
        exported = run_export(load_settings())
    if as_json:
        print_json({"exit_code": 0, "lake": asdict(exported)})
    else:
        print_line(line_of(exported))
    return 0


def build(*, as_json: bool) -> int:
    """Build the marts of the whole lake on Spark, and publish them."""
    from vetl.addons.lake.spark import build_on_spark

    with showing_nodes() as advance:
        result = build_on_spark(load_settings(), advance=advance)
    if as_json:
        print_json({"exit_code": result.build.exit_code, **asdict(result)})
        return result.build.exit_code
    show_build(result.build)
    if result.published:
        show_published(result.published)
    return result.build.exit_code
