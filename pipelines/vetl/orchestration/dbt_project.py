"""The dbt project as dagster-dbt describes it: groups, owners, columns and code come from dbt's own config."""

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import dagster as dg
import yaml
from dagster_dbt import DagsterDbtTranslator, DagsterDbtTranslatorSettings, DbtProject, dbt_assets
from dagster_shared.record import replace

from vetl import bundled
from vetl.core.endpoint import Endpoint
from vetl.endpoints import RECEIVED, REGISTRY
from vetl.jobs.build import read_manifest
from vetl.jobs.dbt_process import state_folder
from vetl.orchestration.metadata import documented_in
from vetl.orchestration.resources import raw_key
from vetl.settings import Settings
from vetl.store.tables import BOOKKEEPING


class _Translator(DagsterDbtTranslator):
    """Descriptions without the SQL, which is one click away, and checks that show their rules."""

    def get_description(self, dbt_resource_props: Mapping[str, Any]) -> str:
        return dbt_resource_props["description"]

    def get_metadata(self, dbt_resource_props: Mapping[str, Any]) -> Mapping[str, Any]:
        page = "lossless.md" if dbt_resource_props["resource_type"] == "source" else "marts.md"
        return {**super().get_metadata(dbt_resource_props), **documented_in(page)}

    def get_asset_check_spec(
        self, asset_spec: dg.AssetSpec, manifest: Mapping[str, Any], unique_id: str, project: DbtProject | None
    ) -> dg.AssetCheckSpec | None:
        """Return the check of a test; its name does not repeat the name of the model."""
        check = super().get_asset_check_spec(asset_spec, manifest, unique_id, project)
        test = manifest["nodes"][unique_id]
        rules = dict((test.get("test_metadata") or {}).get("kwargs", {}))
        rules.pop("model", None)
        return check and replace(
            check,
            name=check.name.removeprefix(f"{asset_spec.key.path[-1]}_"),
            description=test["description"] or f"```yaml\n{yaml.safe_dump(rules, sort_keys=False)}```",
        )


class DbtAssets:
    """The models, tests and sources of the project as assets and checks. Tests of raw tables are no checks."""

    def __init__(self, settings: Settings) -> None:
        target = state_folder(settings.warehouse.path) / "target"
        project = DbtProject(bundled.dbt_project(), target_path=target)
        shown = DagsterDbtTranslatorSettings(enable_code_references=True, enable_dbt_views_as_virtual_assets=True)
        manifest, translator = read_manifest(settings), _Translator(shown)
        with warnings.catch_warnings():
            # Dagster calls virtual assets a preview. Without them the checks of views stand as never run.
            warnings.simplefilter("ignore", dg.PreviewWarning)

            @dbt_assets(manifest=manifest, project=project, dagster_dbt_translator=translator)
            def described() -> Iterator[Any]:
                yield from ()  # the step `dbt_build` makes them

        self.models, self.checks = [*described.specs], [*described.check_specs]
        self.keys = {spec.metadata["dagster_dbt/unique_id"]: spec.key for spec in [*self.models, *self.checks]}
        sources = [translator.get_asset_spec(manifest, name, project) for name in manifest["sources"]]
        raw = {raw_key(endpoint.table): endpoint for endpoint in (*REGISTRY, *RECEIVED)}
        self.raw_tables = {spec.key: _raw_table(spec, raw[spec.key]) for spec in sources if spec.key in raw}
        self.others = [spec for spec in sources if spec.key not in raw]


def _raw_table(source: dg.AssetSpec, endpoint: Endpoint) -> dg.AssetSpec:
    """Return the asset of a source, with the columns of its list."""
    columns = [("practice_id", "VARCHAR"), *((item.name, item.kind.value) for item in endpoint.columns())]
    schema = dg.TableSchema([dg.TableColumn(name, kind) for name, kind in [*columns, *BOOKKEEPING]])
    metadata = {"dagster/column_schema": schema, "source": f"/services/core/open_api/v1/{endpoint.path}"}
    return source.replace_attributes(kinds={"python", "duckdb"}).merge_attributes(metadata=metadata)
