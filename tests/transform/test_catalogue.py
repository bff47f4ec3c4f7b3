"""The catalogue has the meaning of each mart, column and definition, in the words of the project."""

import json

import yaml
from support.cells import Query
from support.dbt_build import BOOKING_STAGES, Build
from vetl.bundled import dbt_project

SET = yaml.safe_load((dbt_project() / "dbt_project.yml").read_text("utf-8"))["vars"]
NO_DEFINITIONS = {"instant", "local_time", "lists", "windows", "zone_corrections"}


def catalogue_of(query: Query, table: str) -> dict[str | None, tuple[str, str | None]]:
    rows = query(f"select column_name, description, definition from meta.catalogue where table_name = '{table}'")
    return {name: (description, definition) for name, description, definition in rows}


def test_every_mart_and_column_is_in_it(filled: Build, query: Query) -> None:
    marts = [node for node in filled.manifest["nodes"].values() if node.get("schema") in {"marts", "meta"}]

    for mart in marts:
        if mart["resource_type"] == "model":
            described = {name: column["description"] for name, column in mart["columns"].items()}
            catalogued = {
                name: " ".join(text.split()) for name, (text, _) in catalogue_of(query, mart["name"]).items()
            }
            expected = {None: mart["description"], **described}
            assert catalogued == {name: " ".join(text.split()) for name, text in expected.items()}


def test_every_definition_is_in_it_with_its_value(query: Query) -> None:
    values = {name: json.loads(value or "null") for name, (_, value) in catalogue_of(query, "definitions").items()}

    set_by_tests = {"booking_stages": list(BOOKING_STAGES)}
    assert values == {name: value for name, value in SET.items() if name not in NO_DEFINITIONS} | set_by_tests


def test_every_example_is_a_statement_that_runs(query: Query) -> None:
    for (example,) in query("select example from meta.catalogue where example is not null"):
        query(example)
