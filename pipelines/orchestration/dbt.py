"""The dbt project as assets: one for each model, with its tests as checks."""

import os
import shutil
import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_dbt import DagsterDbtTranslator, DagsterDbtTranslatorSettings, DbtCliResource, DbtProject, dbt_assets

from pipelines import bundled, jobs
from pipelines.dbt_process import DATA_ONLY, dbt_parse, state_folder
from pipelines.orchestration.resources import WRITER_POOL, VetlResource, as_failures
from pipelines.settings import Settings


class _Translator(DagsterDbtTranslator):
    """Tests of the sources are checks on the raw tables, without holding anything up.

    dbt runs them after all lists are read. If they blocked, clients would wait for dbt's checks of the lists
    that mention them, dbt for the clients, and Dagster would split the one build into three to break the circle.
    """

    def __init__(self) -> None:
        super().__init__(DagsterDbtTranslatorSettings(enable_source_tests_as_checks=True))

    def get_asset_check_spec(
        self, asset_spec: dg.AssetSpec, manifest: Mapping[str, Any], unique_id: str, project: DbtProject | None
    ) -> dg.AssetCheckSpec | None:
        """What dagster-dbt makes of a test, blocking only where it is a model's."""
        spec = super().get_asset_check_spec(asset_spec, manifest, unique_id, project)
        if spec is None or spec.asset_key.path[0] != "partner":
            return spec
        return spec._replace(blocking=False)  # pyright: ignore[reportPrivateUsage] - public on named tuples


def dbt_models(settings: Settings) -> dg.AssetsDefinition:
    """All models of the shipped project, built by one step."""

    @dbt_assets(
        manifest=_manifest(settings.warehouse.path),
        name="dbt_build",
        pool=WRITER_POOL,
        dagster_dbt_translator=_Translator(),
    )
    def models(context: dg.AssetExecutionContext, dbt: DbtCliResource, vetl: VetlResource) -> Iterator[Any]:
        warehouse = vetl.settings().warehouse
        with as_failures():
            jobs.wait_for_writer(jobs.existing(warehouse.path), warehouse.lock_wait_seconds)
        target = state_folder(warehouse.path) / "target"
        with _environment(warehouse.path, target):
            invocation = dbt.cli(["build", *DATA_ONLY], context=context, target_path=target)
        yield from invocation.stream()

    return models


def dbt_resource() -> DbtCliResource:
    """The dbt of this interpreter on the shipped project."""
    project = os.fspath(bundled.dbt_project())
    beside_python = shutil.which("dbt", path=os.fspath(Path(sys.executable).parent))
    return DbtCliResource(
        project_dir=project,
        profiles_dir=project,
        dbt_executable=beside_python or "dbt",
        global_config_flags=["--no-version-check"],
    )


def mart_keys(models: dg.AssetsDefinition) -> list[dg.AssetKey]:
    """The assets that are published."""
    return sorted(key for key in models.keys if key.path[0] == "marts")


def _manifest(warehouse: Path) -> Path:
    """The project's manifest, made anew where it is missing or older than the project."""
    manifest = state_folder(warehouse) / "target" / "manifest.json"
    written = manifest.stat().st_mtime if manifest.exists() else 0.0
    sources = (path for path in bundled.dbt_project().rglob("*") if path.suffix in {".sql", ".yml", ".md", ".csv"})
    if any(path.stat().st_mtime > written for path in sources):
        return dbt_parse(warehouse)
    return manifest


@contextmanager
def _environment(warehouse: Path, target: Path) -> Generator[None]:
    """dagster-dbt starts dbt with the environment of this process; it is as before once dbt has started."""
    wanted = {
        "VETL_WAREHOUSE__PATH": os.fspath(warehouse),
        "VETL_BUILD_FINGERPRINT": bundled.dbt_fingerprint(),
        "DBT_TARGET_PATH": os.fspath(target),
    }
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
