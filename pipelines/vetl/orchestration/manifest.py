"""The assets of dbt's manifest: models with their tests as checks, raw tables, and vetl's own records.

dagster-dbt is not used: each process of Dagster would import dbt and sqlglot to read this one file, 1.7 s of CPU
before a run could begin (decision 70).
"""

from collections.abc import Mapping
from functools import cached_property
from inspect import getfile
from pathlib import Path
from typing import Any

import dagster as dg

from vetl import bundled
from vetl.core.endpoint import Endpoint
from vetl.jobs.dbt_process import one_line
from vetl.orchestration.metadata import code_in, documented_in
from vetl.orchestration.resources import raw_key
from vetl.store.tables import BOOKKEEPING

ELSEWHERE = "lists"
"""The group of a table whose staging model has none."""

_OTHERS = {
    "control": "Records of vetl's own work, written by each sync.",
    "history": "Superseded versions of rows, written by each sync.",
}


class Manifest:
    """The sources, models and tests of dbt's manifest as assets and checks."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        nodes: Mapping[str, Mapping[str, Any]] = content["nodes"]
        self._sources: Mapping[str, Mapping[str, Any]] = content["sources"]
        self.models = {key: node for key, node in nodes.items() if node["resource_type"] == "model"}
        self.tests = {
            key: node
            for key, node in nodes.items()
            if node["resource_type"] == "test" and node.get("attached_node") in self.models
        }
        self._owners = owners(next((node for node in self.models.values() if owners(node)), {}))

    @cached_property
    def keys(self) -> Mapping[str, dg.AssetKey]:
        """Return the asset of each source and model by dbt's id."""
        models = {key: (node["config"].get("schema"), node["name"]) for key, node in self.models.items()}
        sources = {key: (node["source_name"], node["name"]) for key, node in self._sources.items()}
        return {key: dg.AssetKey([part for part in path if part]) for key, path in (models | sources).items()}

    @cached_property
    def checks(self) -> Mapping[str, dg.AssetCheckKey]:
        """Return the check of each test by dbt's id; its name does not repeat the name of the model."""
        return {
            key: dg.AssetCheckKey(
                self.keys[node["attached_node"]],
                node["name"].removeprefix(f"{self.models[node['attached_node']]['name']}_"),
            )
            for key, node in self.tests.items()
        }

    def model_assets(self) -> list[dg.AssetSpec]:
        """Return the models, with the groups and owners of dbt's own config. Views are virtual assets."""
        return [self._model(key, node) for key, node in self.models.items()]

    def _model(self, unique_id: str, node: Mapping[str, Any]) -> dg.AssetSpec:
        config, is_view = node["config"], node["config"]["materialized"] == "view"
        columns = [
            dg.TableColumn(name, column.get("data_type") or "?", column.get("description"))
            for name, column in node["columns"].items()
        ]
        return dg.AssetSpec(
            self.keys[unique_id],
            deps=[self.keys[parent] for parent in node["depends_on"]["nodes"] if parent in self.keys],
            description=" ".join(node["description"].split()),
            group_name=config.get("group"),
            owners=owners(node),
            kinds={"dbt", "duckdb", *(["view"] if is_view else [])},
            code_version=node["checksum"]["checksum"],
            is_virtual=is_view,
            skippable=True,
            metadata={
                "dagster/table_name": f"{node['schema']}.{node['name']}",
                "dagster/column_schema": dg.TableSchema(columns=columns),
                **code_in(bundled.dbt_project() / node["original_file_path"]),
                **documented_in("marts.md"),
            },
        )

    def model_checks(self) -> list[dg.AssetCheckSpec]:
        """Return the tests of models, with the rules that each of them holds.

        Tests of the raw tables are no checks: each backfill of a list would start dbt for them.
        """
        return [
            dg.AssetCheckSpec(
                check.name,
                asset=check.asset_key,
                description=_rules(self.tests[unique_id]),
                blocking=self.tests[unique_id]["config"]["severity"].lower() == "error",
            )
            for unique_id, check in self.checks.items()
        ]

    def raw_table(self, endpoint: Endpoint) -> dg.AssetSpec:
        """Return the asset of a raw table, with the columns of the list and the group of its staging model."""
        key = raw_key(endpoint.table)
        source = next((node for one, node in self._sources.items() if self.keys[one] == key), {})
        staging = f"stg_partner__{endpoint.table}"
        staged = next((node for node in self.models.values() if node["name"] == staging), {"config": {}})
        columns = [("practice_id", "VARCHAR"), *((item.name, item.kind.value) for item in endpoint.columns())]
        return dg.AssetSpec(
            key,
            description=one_line(source.get("description", "")),
            group_name=staged["config"].get("group") or ELSEWHERE,
            owners=owners(source) or self._owners,
            kinds={"python", "duckdb"},
            skippable=True,
            metadata={
                "dagster/table_name": f"raw.{endpoint.table}",
                "dagster/column_schema": dg.TableSchema(
                    columns=[dg.TableColumn(name, kind) for name, kind in [*columns, *BOOKKEEPING]]
                ),
                "source": f"/services/core/open_api/v1/{endpoint.path}",
                **code_in(Path(getfile(endpoint.record))),
                **documented_in("lossless.md"),
            },
        )

    def others(self) -> list[dg.AssetSpec]:
        """Return the assets that models read beside the lists: vetl's own records and superseded rows."""
        return [
            dg.AssetSpec(
                self.keys[unique_id],
                description=one_line(node["description"]) or _OTHERS[node["source_name"]],
                group_name=node["source_name"],
                owners=self._owners,
                kinds={"duckdb"},
            )
            for unique_id, node in self._sources.items()
            if node["source_name"] in _OTHERS
        ]


def owners(node: Mapping[str, Any]) -> list[str]:
    """Return the owner that dbt's `meta` names in Dagster's form: an e-mail address, or `team:name`."""
    owner = {**node.get("meta", {}), **node.get("config", {}).get("meta", {})}.get("owner")
    return [owner if "@" in owner else f"team:{owner}"] if owner else []


def _rules(test: Mapping[str, Any]) -> str | None:
    """Return the rules of a test `holds` (dbt/tests/generic) in words; the words of its own of another test."""
    rules: Mapping[str, Any] = (test.get("test_metadata") or {}).get("kwargs", {})
    sums = rules.get("ties_out") or []
    words = [
        *([f"one row for each {', '.join(rules['key'])}"] if rules.get("key") else []),
        *(f"ties out with {_model_of(one['to'])}" for one in ([sums] if isinstance(sums, Mapping) else sums)),
        *(name.replace("_", " ") for name in rules.get("conditions", ())),
        *(f"{column} is never null" for column in rules.get("not_null", ())),
        *(f"{column} is known in {_model_of(other)}" for column, other in rules.get("known_in", {}).items()),
        *(f"{column} has a listed value" for column in rules.get("accepted", ())),
    ]
    return "; ".join(words) or test.get("description") or None


def _model_of(reference: str) -> str:
    """Return the name in `ref('name')` or `source('schema', 'name')`."""
    return reference.split("'")[-2]
