"""The dbt project as assets: one for each model, with its tests as checks."""

import json
import os
import shutil
import sys
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_dbt import (
    DagsterDbtTranslator,
    DagsterDbtTranslatorSettings,
    DbtCliInvocation,
    DbtCliResource,
    DbtProject,
    dbt_assets,
)

from pipelines import bundled
from pipelines.jobs.build import (
    dbt_variables,
    duckdb_limits,
    existing,
    is_up_to_date,
    options_of,
    ready_for_dbt,
)
from pipelines.jobs.dbt_process import (
    as_options,
    as_variables,
    dbt_parse,
    failures_of,
    known_to_dbt,
    one_line,
    state_folder,
)
from pipelines.jobs.one_writer import writing
from pipelines.loading.control.activity import recorded
from pipelines.loading.failures import busy_in
from pipelines.orchestration.areas import Areas, teams
from pipelines.orchestration.lock_wait import wait_aloud
from pipelines.orchestration.metadata import code_in, documented_in
from pipelines.orchestration.published import PUBLISHED
from pipelines.orchestration.read_config import reads_again
from pipelines.orchestration.resources import WRITER_POOL, VetlResource, as_failures
from pipelines.orchestration.unrun import keeping_results, last_results
from pipelines.settings import Settings

ONLY_NEWS = ("everything", "after_lists", "drain")
"""Jobs that build only where something changed, and then test what is published; others were asked to build."""

_UP_TO_DATE = "No new data; the published file is up to date."
_BROKEN = "Rows that break this promise: {rows}. The published file stays as it was; `vetl build` lists the tests."


class _Translator(DagsterDbtTranslator):
    """Groups by area, owners by `meta`, and tests of the sources as checks that hold nothing up.

    dbt runs those after all lists are read. If they blocked, clients would wait for dbt's checks of the lists
    that mention them, dbt for the clients, and Dagster would split the one build into three to break the circle.
    """

    def __init__(self, areas: Areas) -> None:
        super().__init__(DagsterDbtTranslatorSettings(enable_source_tests_as_checks=True))
        self._areas = areas

    def get_group_name(self, dbt_resource_props: Mapping[str, Any]) -> str | None:
        """The part of the business that a model is about."""
        identity = dbt_resource_props["unique_id"]
        return self._areas.of_model(identity) if identity.startswith("model.") else None

    def get_owners(self, dbt_resource_props: Mapping[str, Any]) -> list[str]:
        """Who answers for a model, by its `meta`."""
        return teams(dbt_resource_props)

    def get_description(self, dbt_resource_props: Mapping[str, Any]) -> str:
        """What a row is; the SQL is one click away, and would hide it."""
        return " ".join(dbt_resource_props.get("description", "").split())

    def get_metadata(self, dbt_resource_props: Mapping[str, Any]) -> Mapping[str, Any]:
        """What dagster-dbt tells, the file of the model, and the page on it."""
        file = bundled.dbt_project() / dbt_resource_props["original_file_path"]
        return {**super().get_metadata(dbt_resource_props), **code_in(file), **documented_in("marts.md")}

    def get_asset_check_spec(
        self, asset_spec: dg.AssetSpec, manifest: Mapping[str, Any], unique_id: str, project: DbtProject | None
    ) -> dg.AssetCheckSpec | None:
        """What dagster-dbt makes of a test, blocking only where it is a model's."""
        spec = super().get_asset_check_spec(asset_spec, manifest, unique_id, project)
        if spec is None or spec.asset_key.path[0] != "partner":
            return spec
        return spec._replace(blocking=False)  # pyright: ignore[reportPrivateUsage] - public on named tuples


def dbt_models(manifest: Path) -> dg.AssetsDefinition:
    """All models of the shipped project, built by one step."""

    @dbt_assets(
        manifest=manifest,
        name="dbt_build",
        pool=WRITER_POOL,
        dagster_dbt_translator=_Translator(areas_of(manifest)),
    )
    def models(context: dg.AssetExecutionContext, dbt: DbtCliResource, vetl: VetlResource) -> Iterator[Any]:
        yield from keeping_results(context, _built(context, dbt, vetl.settings(), manifest))

    return models


def _built(
    context: dg.AssetExecutionContext, dbt: DbtCliResource, settings: Settings, manifest: Path
) -> Iterator[Any]:
    """Build and test, as soon as nobody else holds the warehouse."""
    if context.run.job_name in ONLY_NEWS and _is_up_to_date(settings):
        context.log.info(_UP_TO_DATE)
        yield from last_results(context, _UP_TO_DATE, of=PUBLISHED)  # its step is skipped, and its checks with it
        return
    deadline = time.monotonic() + settings.warehouse.lock_wait_seconds
    with as_failures():
        existing(settings)
    with as_failures():
        wait_aloud(settings, context.log.info)
    with ExitStack() as turn:
        with as_failures():
            turn.enter_context(writing(settings))
        while True:
            with as_failures():
                wait_aloud(settings, context.log.info, max(0.0, deadline - time.monotonic()))
                ready_for_dbt(settings, max(0.0, deadline - time.monotonic()))
            with recorded(settings.warehouse.path, "build", "build") as recorder:
                invocation = _started(context, dbt, settings, manifest)
                yield from (_of_asset(event) for event in invocation.stream())
                if invocation.is_successful():
                    return
                why = failures_of(settings.warehouse.path) or (one_line(str(invocation.get_error())),)
                recorder.error = f"{why[0]} (Dagster's run {context.run.run_id})"
            # A process that is no vetl may have opened the file before dbt did: nothing was built, so wait again.
            if not _was_locked_out(invocation, settings.warehouse.path) or time.monotonic() >= deadline:
                raise dg.Failure("\n".join(why), allow_retries=False)


def _of_asset(event: Any) -> Any:  # noqa: ANN401 - whatever dagster-dbt makes of dbt's log
    """Return an event of a dbt that has not been given the step's context as an event of the step."""
    if isinstance(event, dg.AssetMaterialization):
        return dg.MaterializeResult(asset_key=event.asset_key, metadata=event.metadata)
    if isinstance(event, dg.AssetCheckEvaluation | dg.AssetCheckResult) and not event.passed:
        rows = event.metadata.get("dagster_dbt/failed_row_count")
        return dg.AssetCheckResult(
            passed=False,
            asset_key=event.asset_key,
            check_name=event.check_name,
            severity=event.severity,
            metadata=event.metadata,
            description=_BROKEN.format(rows=rows.value if rows else "some"),
        )
    return event


def _is_up_to_date(settings: Settings) -> bool:
    """Whether a build would make the marts that are published."""
    with as_failures():
        return is_up_to_date(settings)


def _started(
    context: dg.AssetExecutionContext, dbt: DbtCliResource, settings: Settings, manifest: Path
) -> DbtCliInvocation:
    """Start dbt: on all models, or on the models and the checks that somebody has chosen."""
    warehouse = settings.warehouse.path
    target = state_folder(warehouse) / "target"
    with as_failures():
        hourly = context.run.job_name in ONLY_NEWS and not reads_again(context.run)
        tests = options_of(settings, all_tests=not hourly)
    (target / "run_results.json").unlink(missing_ok=True)
    with _environment(
        {**known_to_dbt(warehouse), **as_variables(duckdb_limits(settings)), "DBT_TARGET_PATH": os.fspath(target)}
    ):
        command = ["build", *tests, *as_options(dbt_variables(settings))]
        if _is_chosen_by_hand(context):
            return dbt.cli(command, context=context, target_path=target, raise_on_error=False)
        # With the step's context dagster-dbt would run planned tests alone, and no job of vetl plans any.
        translator = _Translator(areas_of(manifest))
        return dbt.cli(
            command, manifest=manifest, dagster_dbt_translator=translator, target_path=target, raise_on_error=False
        )


def _is_chosen_by_hand(context: dg.AssetExecutionContext) -> bool:
    """Whether somebody has chosen models or checks; the jobs of vetl build all models, and plan no check."""
    chosen = len(context.selected_asset_keys) < len(context.assets_def.node_keys_by_output_name)
    return chosen or bool(context.selected_asset_check_keys)


def _was_locked_out(invocation: DbtCliInvocation, warehouse: Path) -> bool:
    return busy_in(str(invocation.get_error()), warehouse) is not None


def dbt_resource() -> dg.ResourceDefinition:
    """The dbt of this interpreter on the shipped project; the launchpad need not show its paths."""
    project = os.fspath(bundled.dbt_project())
    beside_python = shutil.which("dbt", path=os.fspath(Path(sys.executable).parent))
    dbt = DbtCliResource(
        project_dir=project,
        profiles_dir=project,
        dbt_executable=beside_python or "dbt",
        global_config_flags=["--no-version-check"],
    )
    return dg.ResourceDefinition.hardcoded_resource(dbt)


def mart_keys(models: dg.AssetsDefinition) -> list[dg.AssetKey]:
    """The assets that are published."""
    return sorted(key for key in models.keys if key.path[0] == "marts")


def areas_of(manifest: Path) -> Areas:
    """What the manifest says of models and sources."""
    return Areas(json.loads(manifest.read_text("utf-8")))


def manifest_of(settings: Settings) -> Path:
    """The project's manifest, made anew where it is missing or older than the project."""
    manifest = state_folder(settings.warehouse.path) / "target" / "manifest.json"
    written = manifest.stat().st_mtime if manifest.exists() else 0.0
    sources = (path for path in bundled.dbt_project().rglob("*") if path.suffix in {".sql", ".yml", ".md", ".csv"})
    if any(path.stat().st_mtime > written for path in sources):
        return dbt_parse(settings.warehouse.path, dbt_variables(settings))
    return manifest


@contextmanager
def _environment(wanted: Mapping[str, str]) -> Generator[None]:
    """dagster-dbt starts dbt with the environment of this process: for that moment it holds what dbt may know.

    Of vetl's own variables that is the file alone: no secret reaches dbt.
    """
    before = dict(os.environ)
    for name in before:
        if name.startswith("VETL_"):
            del os.environ[name]
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name in wanted:
            os.environ.pop(name, None)
        os.environ.update(before)
