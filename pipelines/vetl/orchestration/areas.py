"""Group, owner and description of each raw table and model, read from the dbt project's manifest.

A raw table has the group of the model that stages it, so a new list needs no change here.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from inspect import getfile
from pathlib import Path
from typing import Any

import dagster as dg

from vetl.core.endpoint import Endpoint
from vetl.jobs.dbt_process import one_line
from vetl.loading.tables import BOOKKEEPING
from vetl.orchestration.metadata import code_in, documented_in

ELSEWHERE = "lists"
"""The group of a table that no model reads."""

_BY_AREA = ("marts", "intermediate")
_OTHERS = {
    "control": "Records of vetl's own work, written by each sync.",
    "history": "Superseded versions of rows, written by each sync.",
}
_OWN = {
    "practice_id": "The practice, as vetl.toml names it.",
    "_loaded_at": "When vetl wrote this version of the row.",
    "_run_id": "The run that wrote the row; see control.runs.",
    "_row_hash": "A hash of the source's own fields; a new version of the row has a new hash.",
    "_deleted_at": "When vetl found that the source had deleted the row; null while the source has it.",
    "_extra": "Fields that are not in the contract.",
}


class Areas:
    """Groups, owners and descriptions from dbt's manifest."""

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self._models = {
            identity: node for identity, node in manifest["nodes"].items() if node["resource_type"] == "model"
        }
        self._all_sources = list(manifest["sources"].values())
        self._sources = {node["name"]: node for node in self._all_sources if node["source_name"] == "partner"}
        self._children = manifest["child_map"]

    def of_model(self, identity: str) -> str:
        """Return the folder of a model below marts or intermediate.

        A staging model has the group of the model with the same rows (`stg_partner__phone_calls` that of
        `phone_calls`), or if there is none, the most common group of the models that read it.
        """
        layer, area, *_ = (*self._models[identity]["fqn"][1:], "", "")
        if layer in _BY_AREA:
            return area
        rows = identity.rsplit("__", 1)[-1]
        same = [name for name in (f"model.vetl.{rows}", f"model.vetl.int_{rows}") if name in self._models]
        return self.of_model(same[0]) if same else self._most_common(identity)

    def of_table(self, table: str) -> str:
        """Return the group of the model that stages a raw table."""
        staged = f"model.vetl.stg_partner__{table}"
        return self.of_model(staged) if staged in self._models else ELSEWHERE

    def _most_common(self, identity: str) -> str:
        readers = [child for child in self._children.get(identity, ()) if child in self._models]
        counts = Counter(fqn[2] for fqn in (self._models[child]["fqn"] for child in readers) if fqn[1] in _BY_AREA)
        return min(counts, key=lambda area: (-counts[area], area)) if counts else ELSEWHERE

    def description(self, table: str) -> str:
        """Return the description of a raw table in the dbt source."""
        return one_line(self._sources[table]["description"]) if table in self._sources else ""

    def owners(self, table: str) -> list[str]:
        """Return the owners in the `meta` of a raw table, or those of the models if it has none."""
        return teams(self._sources.get(table, {})) or teams(next(iter(self._models.values()), {}))

    def others(self) -> list[dg.AssetSpec]:
        """Return the assets that models read beside the lists: vetl's own records and superseded rows."""
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
        """Return the columns of a list, its path on the platform, and the file that declares it."""
        columns = [("practice_id", "VARCHAR"), *((item.name, item.kind.value) for item in endpoint.columns())]
        words = {**self._column_words(endpoint.table, [name for name, _ in columns]), **_OWN}
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

    def _column_words(self, table: str, columns: Collection[str]) -> dict[str, str]:
        """Return the descriptions of the mart that publishes the rows, and of the staging model for other columns.

        Of the marts that read the raw table, it is the one with most of its columns.
        """
        staged = f"model.vetl.stg_partner__{table}"
        marts = [node for node in self._readers(staged) if node["fqn"][1] == "marts"]
        publishing = max(marts, key=lambda mart: len(mart["columns"].keys() & columns), default={})
        return {
            name: one_line(column["description"])
            for node in (publishing, self._models.get(staged, {}))
            for name, column in node.get("columns", {}).items()
            if column["description"]
        }

    def _readers(self, identity: str) -> Iterable[Mapping[str, Any]]:
        """Return the models that read a model, and those that read these."""
        found: dict[str, Mapping[str, Any]] = {}
        waiting = [identity]
        while waiting:
            children = [child for child in self._children.get(waiting.pop(), ()) if child in self._models]
            waiting += [child for child in children if child not in found]
            found |= {child: self._models[child] for child in children}
        return found.values()


def teams(node: Mapping[str, Any]) -> list[str]:
    """Return the owners that dbt's `meta` names in Dagster's form: an e-mail address, or `team:name`."""
    meta = {**node.get("meta", {}), **node.get("config", {}).get("meta", {})}
    owner = meta.get("owner")
    if not owner:
        return []
    return [owner if "@" in owner else f"team:{owner}"]
