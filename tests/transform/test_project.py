"""The dbt project keeps its own rules: described, owned, classified, portable."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml
from support.cells import Query
from support.dbt_build import Build
from vetl.bundled import dbt_project
from vetl.core.published_file import DIGESTS, OWN, SCHEMAS
from vetl.endpoints import RECEIVED, REGISTRY

OF_NO_ROWS = {"catalogue", "metrics"}
"""They describe the marts and have no rows of the source: see `test_catalogue.py` and `test_metrics.py`."""
PERSONAL = re.compile(
    r"^approved_by$|(^|(?<!group)_)(name|email|phone|phone_number|contact_number|summary|context|title|description)$|(^|_)(text|message)$"
)
NOT_PERSONAL = {
    ("practices", "name"),
    ("phone_calls", "practice_name"),
    *(("catalogue", name) for name in ("table_name", "column_name", "description")),
}
_EXPRESSION = re.compile(r"^(?:with )?(\w+) as \($", re.MULTILINE)
_READ = re.compile(r"\b(?:from|join)\s+\(?\s*([\w.\"]+)")


def nodes(build: Build, kind: str) -> Iterator[dict[str, Any]]:
    return (node for node in build.manifest["nodes"].values() if node["resource_type"] == kind)


def layer(model: dict[str, Any]) -> str:
    return model["fqn"][1]


def reads(models: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return by relation (`schema.name`) the table reads of an engine that expands everything, as Spark does.

    `models` are dbt's nodes by relation, compiled; a model that is no view is one table.
    """
    counts: dict[str, int] = {}

    def of_model(name: str) -> int:
        if name not in counts:
            counts[name] = _of_statement(models[name]["compiled_code"], of_relation)
        return counts[name]

    def of_relation(name: str) -> int:
        short = ".".join(name.replace('"', "").split(".")[-2:])
        is_view = short in models and models[short]["config"]["materialized"] == "view"
        return of_model(short) if is_view else 1

    return {name: of_model(name) for name in models}


def _of_statement(sql: str, of_relation: Any) -> int:
    first, *rest = _EXPRESSION.split(re.sub(r"'[^']*'", "''", re.sub(r"--.*", "", sql)))
    if not rest:
        return sum(of_relation(name) for name in _READ.findall(first))
    weights: dict[str, int] = {}

    def of_text(text: str) -> int:
        return sum(weights.get(name) or of_relation(name) for name in _READ.findall(text))

    *bodies, last = rest[1::2]
    body, _, answer = last.partition("\n)\n")
    for name, text in zip(rest[::2], [*bodies, body], strict=True):
        weights[name] = max(1, of_text(text))
    return of_text(answer)


def test_no_model_is_too_long_when_it_is_written_out(filled: Build) -> None:
    """Spark expands a common table expression at every use: a chain of them outgrows its memory."""
    models = {f"{model['schema']}.{model['name']}": model for model in nodes(filled, "model")}

    assert {name: number for name, number in reads(models).items() if number > 100} == {}


def test_every_column_is_described_by_the_mart_that_publishes_it_or_by_a_model_before(
    filled: Build, query: Query
) -> None:
    rows = query("select schema_name, table_name, column_name from duckdb_columns()")
    models = {model["unique_id"]: model for model in nodes(filled, "model")}
    ids = {(model["schema"], model["name"]): unique_id for unique_id, model in models.items()}
    made = {(ids[schema, name], column) for schema, name, column in rows if (schema, name) in ids}
    described = {
        (unique_id, name)
        for unique_id, model in models.items()
        for name, column in model["columns"].items()
        if column["description"].strip()
    }
    near = {name: relatives(filled.manifest, name) for name in models if layer(models[name]) not in SCHEMAS}
    passed_on = {
        (unique_id, column)
        for unique_id, column in made
        if any((other, column) in described for other in near.get(unique_id, ()))
    }

    assert described <= made <= described | passed_on


def relatives(manifest: dict[str, Any], unique_id: str) -> set[str]:
    """Return the unique ids of all that a model reads and of all that reads it, through other models too."""
    found: set[str] = set()
    for direction in ("parent_map", "child_map"):
        waiting = [unique_id]
        while waiting:
            new = set(manifest[direction].get(waiting.pop(), ())) - found
            found |= new
            waiting += new
    return found


def test_every_source_is_a_table_of_loading_and_described_and_every_list_is_one(filled: Build) -> None:
    """One source is spread over several files; dbt takes a contradicting schema without a word."""
    sources = filled.manifest["sources"].values()

    schemas = {(source["source_name"], source["schema"]) for source in sources}
    assert schemas == {("partner", "raw"), ("control", "control"), ("history", "history")}
    assert [source["unique_id"] for source in sources if not source["description"].strip()] == []
    tables = {source["name"] for source in sources if source["source_name"] == "partner"}
    lists = {endpoint.table for endpoint in REGISTRY}
    assert lists <= tables <= lists | {endpoint.table for endpoint in RECEIVED}


def test_only_staging_reads_sources_and_no_layer_reads_a_later_layer(filled: Build) -> None:
    """Staging does not read staging either: each list is prepared by itself."""
    models = {model["unique_id"]: layer(model) for model in nodes(filled, "model")}
    layers = models | dict.fromkeys(filled.manifest["sources"], "source")
    edges = {
        (layers[parent], layer(model))
        for model in nodes(filled, "model")
        for parent in model["depends_on"]["nodes"]
        if parent in layers
    }

    assert edges == {
        ("source", "staging"),
        ("staging", "intermediate"),
        ("staging", "marts"),
        ("intermediate", "intermediate"),
        ("intermediate", "marts"),
        ("marts", "marts"),
        ("staging", "meta"),
        ("intermediate", "meta"),
        ("marts", "meta"),
        ("meta", "marts"),
        ("meta", "meta"),
    }


@pytest.mark.parametrize("things", ["tables", "views", "columns"])
def test_descriptions_of_a_mart_are_comments_in_the_warehouse(things: str, query: Query) -> None:
    """As comments, which go into the published file: analysts read the meaning of a column there."""
    assert query(f"from duckdb_{things}() where schema_name in ('marts', 'meta') and comment is null") == []


def test_dbt_by_itself_knows_the_lists_of_the_registry() -> None:
    """These are the lists that vetl passes; the project's own are for a dbt that runs without vetl."""
    project = yaml.safe_load((dbt_project() / "dbt_project.yml").read_text("utf-8"))

    assert project["vars"]["lists"] == {endpoint.name: endpoint.table for endpoint in REGISTRY}


def test_the_tables_of_vetl_itself_are_those_of_the_schema_meta(filled: Build) -> None:
    assert {model["name"] for model in nodes(filled, "model") if layer(model) == "meta"} == OWN - {DIGESTS}


def test_every_model_has_an_owner_and_a_description_that_begins_with_the_grain(filled: Build) -> None:
    for model in nodes(filled, "model"):
        assert model["config"]["meta"].get("owner"), model["name"]
        assert model["description"].startswith("One row"), model["name"]


def test_every_mart_has_a_grain_and_an_enforced_contract(filled: Build) -> None:
    for model in nodes(filled, "model"):
        if layer(model) in SCHEMAS:
            assert model["config"]["contract"]["enforced"], model["name"]
            assert set(model["config"]["meta"]["grain"].split(", ")) <= model["columns"].keys(), model["name"]


def test_every_mart_is_tested_for_its_grain_and_for_lost_rows(filled: Build) -> None:
    tested = {
        (node["attached_node"], rule): asked
        for node in nodes(filled, "test")
        if node.get("test_metadata", {}).get("name") == "holds"
        for rule, asked in node["test_metadata"]["kwargs"].items()
    }

    for model in nodes(filled, "model"):
        if layer(model) in SCHEMAS:
            key = tested[model["unique_id"], "key"]
            assert ", ".join(key) == model["config"]["meta"]["grain"], model["name"]
            assert (model["unique_id"], "ties_out") in tested or model["name"] in OF_NO_ROWS, model["name"]


def test_columns_that_hold_personal_data_are_marked(filled: Build) -> None:
    marked, personal = set[tuple[str, str]](), set[tuple[str, str]]()
    for model in nodes(filled, "model"):
        for name, column in model["columns"].items() if layer(model) in SCHEMAS else ():
            if PERSONAL.search(name):
                personal.add((model["name"], name))
            if column["config"].get("meta", {}).get("personal"):
                marked.add((model["name"], name))
                assert column["data_type"] == "string", "a mask is text"

    assert personal - NOT_PERSONAL == marked
