"""Which part of the business a table belongs to, who answers for it and what is in it: told by the dbt project.

A raw table belongs where most of what is made of it belongs, so a new list needs no word of it here.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from inspect import getfile
from pathlib import Path
from typing import Any

import dagster as dg

from pipelines.core.endpoint import Endpoint
from pipelines.jobs.dbt_process import one_line
from pipelines.loading.tables import BOOKKEEPING
from pipelines.orchestration.metadata import code_in, documented_in

ELSEWHERE = "lists"
"""The group of what no model reads."""

_BY_AREA = ("marts", "intermediate")
_OTHERS = {
    "control": "What vetl knows of its own work, written by each sync.",
    "history": "Superseded versions of rows, written by each sync.",
}
_OWN = {
    "practice_id": "The practice, as vetl.toml names it.",
    "_loaded_at": "When vetl wrote the row as it is now.",
    "_run_id": "The run that wrote it, in control.runs.",
    "_row_hash": "Of the source's own fields: another hash is another version.",
    "_deleted_at": "When the source was seen not to have the row any more; null while it has.",
    "_extra": "Fields that the contract does not know.",
}


class Areas:
    """What dbt's manifest says of models and sources."""

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self._models = {
            identity: node for identity, node in manifest["nodes"].items() if node["resource_type"] == "model"
        }
        self._all_sources = list(manifest["sources"].values())
        self._sources = {node["name"]: node for node in self._all_sources if node["source_name"] == "partner"}
        self._children = manifest["child_map"]

    def of_model(self, identity: str) -> str:
        """The folder of a model below marts or intermediate.

        Of staging, that of the model of the same rows, `phone_calls` of `stg_partner__phone_calls`; without one,
        the folder in which most of its readers are.
        """
        layer, area, *_ = (*self._models[identity]["fqn"][1:], "", "")
        if layer in _BY_AREA:
            return area
        rows = identity.rsplit("__", 1)[-1]
        same = [name for name in (f"model.vetl.{rows}", f"model.vetl.int_{rows}") if name in self._models]
        return self.of_model(same[0]) if same else self._most_common(identity)

    def of_table(self, table: str) -> str:
        """The area of a raw table: that of the model which stages it."""
        staged = f"model.vetl.stg_partner__{table}"
        return self.of_model(staged) if staged in self._models else ELSEWHERE

    def _most_common(self, identity: str) -> str:
        readers = [child for child in self._children.get(identity, ()) if child in self._models]
        counts = Counter(fqn[2] for fqn in (self._models[child]["fqn"] for child in readers) if fqn[1] in _BY_AREA)
        return min(counts, key=lambda area: (-counts[area], area)) if counts else ELSEWHERE

    def description(self, table: str) -> str:
        """What a raw table holds, as the dbt source describes it."""
        return one_line(self._sources[table]["description"]) if table in self._sources else ""

    def owners(self, table: str) -> list[str]:
        """Who answers for a raw table: by its own `meta`, else by that of the models."""
        return teams(self._sources.get(table, {})) or teams(next(iter(self._models.values()), {}))

    def others(self) -> list[dg.AssetSpec]:
        """What the models read beside the lists: vetl's own records and superseded rows."""
        return [
            dg.AssetSpec(
                [node["source_name"], node["name"]],
                description=one_line(node["description"]) or _OTHERS[node["source_name"]],
                group_name=node["source_name"],
                owners=self.owners(node["name"]),
                kinds={"duckdb"},
            )
            for node in self._all_sources
            if node["source_name"] in _OTHERS
        ]

    def metadata(self, endpoint: Endpoint) -> dict[str, Any]:
        """Its columns with their types, where the platform has it, and the file of its fields."""
        columns = [("practice_id", "VARCHAR"), *((item.name, item.kind.value) for item in endpoint.columns())]
        words = {**self._column_words(endpoint.table), **_OWN}
        return {
            "dagster/table_name": f"raw.{endpoint.table}",
            "dagster/column_schema": dg.TableSchema(
                columns=[
                    dg.TableColumn(name, kind, description=words.get(name))
                    for name, kind in [*columns, *BOOKKEEPING]
                ]
            ),
            "source": f"/services/core/open_api/v1/{endpoint.path}",
            **code_in(Path(getfile(endpoint.record))),
            **documented_in("lossless.md"),
        }

    def _column_words(self, table: str) -> dict[str, str]:
        staged = self._models.get(f"model.vetl.stg_partner__{table}", {})
        nodes: Sequence[Mapping[str, Any]] = (staged, self._sources.get(table, {}))
        return {
            name: one_line(column["description"])
            for node in nodes
            for name, column in node.get("columns", {}).items()
            if column["description"]
        }


def teams(node: Mapping[str, Any]) -> list[str]:
    """The owners that dbt's `meta` names, as Dagster wants them: an address, or a team."""
    meta = {**node.get("meta", {}), **node.get("config", {}).get("meta", {})}
    owner = meta.get("owner")
    if not owner:
        return []
    return [owner if "@" in owner else f"team:{owner}"]
