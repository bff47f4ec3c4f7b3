"""The pages of the documentation site: those of `docs/`, and reference pages that are generated from the code.

`make docs` runs this, then builds `build/site` from the folder.
"""

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import yaml
from pydantic import SecretStr
from typer.main import get_command
from vetl.cli.app import app
from vetl.endpoints import REGISTRY
from vetl.settings import settings_class
from vetl.store.warehouse import Warehouse

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BESIDE = {
    "warehouse/README.md": "analysts.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
"""Pages outside `docs/`, and their names in the site."""

_DOC = re.compile(r"{% docs (\w+) %}(.*?){% enddocs %}", re.DOTALL)
_VARIABLE = re.compile(r"{{ *var\('(\w+)'\) *}}")
_ASKED = re.compile(r"{{ *doc\('(\w+)'\) *}}")


def write_pages(target: Path) -> None:
    """Write all sources of the site into an empty folder."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(DOCS, target)
    for source, name in BESIDE.items():
        (target / name).write_text(_at_home((ROOT / source).read_text("utf-8"), source), "utf-8")
    for page in target.rglob("*.md"):
        text = page.read_text("utf-8").replace("](decisions/README.md)", "](decisions/index.md)")
        for source, name in BESIDE.items():
            up = "../" * len(page.relative_to(target).parts)
            text = text.replace(f"]({up}{source}", f"]({'../' * (len(page.relative_to(target).parts) - 1)}{name}")
        page.write_text(text, "utf-8")
    reference = target / "reference"
    reference.mkdir(exist_ok=True)
    for name, text in pages().items():
        (reference / name).write_text(text, "utf-8")
    (target / "decisions" / "README.md").rename(target / "decisions" / "index.md")


def pages() -> dict[str, str]:
    """Return the generated pages, by file name."""
    return {
        "commands.md": commands(),
        "settings.md": settings(),
        "tables.md": tables(),
        "marts.md": marts(),
        "metrics.md": metrics(),
    }


def commands() -> str:
    """Return each command's own help."""
    root: Any = get_command(app)
    lines = ["# Commands", "", "The output of `vetl COMMAND --help`.", ""]
    for name, command in _every(root.commands):
        if command.help is not None:
            context: Any = command.make_context(f"vetl {name}", [], resilient_parsing=True)
            lines += [f"## vetl {name}", "", "```text", context.get_help(), "```", ""]
    return "\n".join(lines)


def _every(group: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.items():
        inner = getattr(command, "commands", None)
        if inner:
            yield from _every(inner, f"{above}{name} ")
        else:
            yield f"{above}{name}", command


def settings() -> str:
    """Return every key with its variable and default, and the commented example."""
    lines = [
        "# Settings",
        "",
        "A value comes from its environment variable, else from `.env`, else from `vetl.toml`.",
        "",
    ]
    lines += ["| key | environment variable | default |", "| --- | --- | --- |"]
    for section, field in settings_class().model_fields.items():
        for key, item in getattr(field.annotation, "model_fields", {}).items():
            default = "" if item.is_required() or isinstance(item.default, SecretStr) else item.get_default()
            shown = "" if default is None or default == "" else f"`{default}`"
            lines.append(f"| `{section}.{key}` | `VETL_{section.upper()}__{key.upper()}` | {shown} |")
    example = (ROOT / "vetl.example.toml").read_text("utf-8")
    return "\n".join(
        [*lines, "", "## vetl.toml", "", "`vetl init` writes this.", "", "```toml", example + "```", ""]
    )


def tables() -> str:
    """Return the tables of the private file, as a new warehouse has them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vetl.duckdb"
        Warehouse.open(path, REGISTRY, lock_wait_seconds=0).close()
        with duckdb.connect(path, read_only=True) as connection:
            columns = connection.execute(
                "select schema_name, table_name, column_name, data_type from duckdb_columns()"
                " where database_name = 'vetl' and not internal"
                " order by schema_name desc, table_name, column_index"
            ).fetchall()
    lines = [
        "# Tables of the private file",
        "",
        "`raw` mirrors the platform, `history` keeps superseded versions of its",
    ]
    lines += [
        "rows, `control` has vetl's records of its own work. Contract: [how a list is read](../lossless.md).",
        "",
    ]
    heading = ""
    for schema, table, column, kind in columns:
        if heading != f"{schema}.{table}":
            heading = f"{schema}.{table}"
            lines += ["", f"## {heading}", "", "| column | type |", "| --- | --- |"]
        lines.append(f"| `{column}` | {kind} |")
    return "\n".join([*lines, ""])


def marts() -> str:
    """Return the published tables with their columns, in the words of the models."""
    models = ROOT / "dbt" / "models"
    blocks = {
        name: " ".join(text.split())
        for page in sorted(models.rglob("*.md"))
        for name, text in _DOC.findall(page.read_text("utf-8"))
    }
    variables = yaml.safe_load((ROOT / "dbt" / "dbt_project.yml").read_text("utf-8"))["vars"]
    lines = [
        "# Marts",
        "",
        "Published for analysts and dashboards; questions and answers: [for analysts](../analysts.md).",
        "",
    ]
    described = [*(models / "marts").rglob("*.yml"), *(models / "meta").rglob("*.yml")]
    for path in sorted(described, key=lambda path: path.stem):
        schema = path.relative_to(models).parts[0]
        for model in yaml.safe_load(path.read_text("utf-8")).get("models", ()):
            lines += [
                f"## {schema}.{model['name']}",
                "",
                _words(model["description"], blocks),
                "",
            ]
            lines += ["| column | type | |", "| --- | --- | --- |"]
            for column in model.get("columns", ()):
                description = _words(column.get("description", ""), blocks).replace("|", "\\|")
                personal = column.get("config", {}).get("meta", {}).get("personal")
                description += f" Personal: `{personal}`." if personal else ""
                kind = _VARIABLE.sub(lambda match: str(variables[match[1]]), column.get("data_type", ""))
                lines.append(f"| `{column['name']}` | {kind} | {description} |")
            lines.append("")
    return "\n".join(lines)


def metrics() -> str:
    """Return every metric of the semantic models, with its dimensions."""
    lines = [
        "# Metrics",
        "",
        "For `mf query` and tools that speak dbt's semantic layer: [how](../analysts.md#metrics).",
        "",
    ]
    for path in sorted((ROOT / "dbt" / "models" / "metrics").glob("*.yml")):
        content = yaml.safe_load(path.read_text("utf-8"))
        for model in content.get("semantic_models", ()):
            mart = re.sub(r"ref\('(\w+)'\)", r"\1", model["model"])
            by = ", ".join(f"`{dimension['name']}`" for dimension in model.get("dimensions", ()))
            counted = [measure for measure in model.get("measures", ()) if measure.get("create_metric")]
            if counted:
                lines += [f"## Of {mart}", "", f"By {by}.", "", *_table_of(counted)]
        if content.get("metrics"):
            lines += [f"## Rates and sums: {path.stem}", "", *_table_of(content["metrics"])]
    return "\n".join(lines)


def _table_of(metrics: list[dict[str, Any]]) -> list[str]:
    lines = ["| metric | label | meaning |", "| --- | --- | --- |"]
    for metric in metrics:
        description = " ".join(metric["description"].split()).replace("|", "\\|")
        lines.append(f"| `{metric['name']}` | {metric['label']} | {description} |")
    return [*lines, ""]


def _words(text: str, blocks: dict[str, str]) -> str:
    return " ".join(_ASKED.sub(lambda match: blocks[match[1]], text).split())


def _at_home(text: str, source: str) -> str:
    """Return a page with its links changed for the root of the site: those into `docs/` lose the folder."""
    inside = re.sub(r"\]\((?:\.\./)?docs/", "](", text)
    return inside if source != "warehouse/README.md" else inside.replace("](../", "](")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
