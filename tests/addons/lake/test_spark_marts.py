"""The tables that Spark built, as a file that is published."""

import json
from pathlib import Path

import duckdb
from vetl.addons.lake.spark import write_views


def test_tables_of_both_published_schemas_are_views_with_their_descriptions(tmp_path: Path) -> None:
    nodes: dict[str, dict[str, object]] = {}
    for schema, name in (("marts", "practices"), ("meta", "proof"), ("intermediate", "int_callers")):
        folder = tmp_path / "tables" / f"{schema}.db" / name
        folder.mkdir(parents=True)
        duckdb.execute(f"copy (select '{name}' as practice_id) to '{folder}/part-0.parquet'")
        columns = {"practice_id": {"name": "practice_id", "description": "The practice."}}
        node = {"resource_type": "model", "schema": schema, "name": name, "description": f"About {name}."}
        nodes[name] = {**node, "columns": columns}
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({"nodes": nodes}), "utf-8")

    write_views(tmp_path / "on_spark.duckdb", tmp_path / "tables", manifest)

    with duckdb.connect(tmp_path / "on_spark.duckdb", read_only=True) as connection:
        views = connection.execute(
            "select schema_name, view_name, comment from duckdb_views() where not internal order by all"
        ).fetchall()
        assert views == [("marts", "practices", "About practices."), ("meta", "proof", "About proof.")]
        assert connection.execute("from meta.proof").fetchall() == [("proof",)]
