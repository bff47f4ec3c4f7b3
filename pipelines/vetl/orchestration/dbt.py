"""The dbt project as assets: one for each model, with its tests as checks."""

import json
import os
import re
import shutil
import sys
import time
import warnings
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

from vetl import bundled
from vetl.core.errors import MAKE_ROOM
from vetl.core.published_file import SCHEMAS
from vetl.forgetting.job import build_in_full, finish_forgettings
from vetl.jobs.build import (
    Begun,
    dbt_variables,
    duckdb_limits,
    existing,
    finish_build,
    is_up_to_date,
    options_of,
    ready_for_dbt,
)
from vetl.jobs.dbt_process import (
    OWN_VARIABLES,
    as_options,
    as_variables,
    dbt_parse,
    failures_of,
    known_to_dbt,
    one_line,
    results_file,
    state_folder,
)
from vetl.jobs.one_writer import writing
from vetl.orchestration.checks_now import checked_if_it_fails, published_now
from vetl.orchestration.keys import WRITER_POOL
from vetl.orchestration.lock_wait import wait_for_lock
from vetl.orchestration.metadata import code_in, documented_in
from vetl.orchestration.raw_tables import owners
from vetl.orchestration.read_config import reads_again
from vetl.orchestration.resources import VetlResource, as_failures
from vetl.settings import Settings
from vetl.store.control.activity import recorded
from vetl.store.failures import busy_in, remedy_in
from vetl.store.forget_plan import read_plans

ONLY_NEWS = ("everything", "drain")
"""Jobs that build only if data changed, and then test only the published models. Other jobs always build."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LOGGED = "Errors parsed from dbt logs:"
_ROOM = 1024 * 1024
"""Bytes without which dbt cannot write its own files."""

_UP_TO_DATE = "No new data; the published file is up to date."
_BROKEN = "{rows} rows fail this test. The published file stays as it was; `vetl build` lists the failed tests."


class _Translator(DagsterDbtTranslator):
    """Groups and owners of dbt's own config, views as virtual assets, and tests of sources that block nothing.

    dbt runs the tests of the sources after all lists are read. If they blocked, the clients asset would wait for
    dbt's tests of the lists that mention clients, and dbt for the clients: a circle, for which Dagster would split
    the one build into three.
    """

    def __init__(self) -> None:
        super().__init__(
            DagsterDbtTranslatorSettings(
                enable_source_tests_as_checks=True, enable_dbt_views_as_virtual_assets=True
            )
        )

    def get_owners(self, dbt_resource_props: Mapping[str, Any]) -> list[str]:
        """Return the owners of a model, from its `meta`."""
        return owners(dbt_resource_props)

    def get_description(self, dbt_resource_props: Mapping[str, Any]) -> str:
        """Return the description without the SQL, which is one click away and would hide it."""
        return " ".join(dbt_resource_props.get("description", "").split())

    def get_metadata(self, dbt_resource_props: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the metadata of dagster-dbt, the file of the model, and the link to its page."""
        file = bundled.dbt_project() / dbt_resource_props["original_file_path"]
        return {**super().get_metadata(dbt_resource_props), **code_in(file), **documented_in("marts.md")}

    def get_asset_check_spec(
        self, asset_spec: dg.AssetSpec, manifest: Mapping[str, Any], unique_id: str, project: DbtProject | None
    ) -> dg.AssetCheckSpec | None:
        """Return the check of a test, as a blocking one only if it tests a model."""
        spec = super().get_asset_check_spec(asset_spec, manifest, unique_id, project)
        if spec is None or spec.asset_key.path[0] != "partner":
            return spec
        return spec._replace(blocking=False)  # pyright: ignore[reportPrivateUsage] - public on named tuples


def dbt_models(manifest: Path) -> dg.AssetsDefinition:
    """Return the asset definition of all models, which one step builds."""
    with warnings.catch_warnings():
        # Dagster calls virtual assets a preview. Without them the checks of views stand as never run.
        warnings.simplefilter("ignore", dg.PreviewWarning)

        @dbt_assets(
            manifest=manifest,
            name="dbt_build",
            pool=WRITER_POOL,
            dagster_dbt_translator=_Translator(),
        )
        def models(context: dg.AssetExecutionContext, dbt: DbtCliResource, vetl: VetlResource) -> Iterator[Any]:
            settings = vetl.settings()
            yield from checked_if_it_fails(settings, _built(context, dbt, settings, manifest))

    return models


def _built(
    context: dg.AssetExecutionContext, dbt: DbtCliResource, settings: Settings, manifest: Path
) -> Iterator[Any]:
    """Build and test, as soon as no other process holds the warehouse."""
    with as_failures():
        is_forgetting = bool(read_plans(settings.warehouse.path))
    if context.run.job_name in ONLY_NEWS and not is_forgetting and _is_up_to_date(settings):
        context.log.info(_UP_TO_DATE)
        yield from published_now(settings)  # the step of the published file is skipped with its checks
        return
    deadline = time.monotonic() + settings.warehouse.lock_wait_seconds
    with as_failures():
        existing(settings)
    with as_failures():
        wait_for_lock(settings, context.log.info)
    with ExitStack() as lock:
        with as_failures():
            lock.enter_context(writing(settings))
            for forgotten in finish_forgettings(settings, build_in_full):
                rest = f"still mentioned in {', '.join(forgotten.left)}" if forgotten.left else "is complete"
                context.log.info("the forgetting of %s %s", forgotten.pseudonym, rest)
        begun: Begun | None = None
        while True:
            with as_failures():
                wait_for_lock(settings, context.log.info, max(0.0, deadline - time.monotonic()))
                begun = ready_for_dbt(settings, max(0.0, deadline - time.monotonic()), before=begun)
            with recorded(settings.warehouse.path, "build", "build") as recorder:
                invocation = _started(context, dbt, settings, manifest, begun)
                yield from (_of_asset(event) for event in invocation.stream())
                if invocation.is_successful():
                    if not _is_selection(context):
                        finish_build(settings, begun)
                    return
                why = failures_of(settings.warehouse.path) or (
                    reason_of(str(invocation.get_error()), state_folder(settings.warehouse.path)),
                )
                recorder.error = f"{why[0]} (Dagster's run {context.run.run_id})"
            # Another program may have opened the file before dbt did. Nothing was built, so wait again.
            if not _was_locked_out(invocation, settings.warehouse.path) or time.monotonic() >= deadline:
                raise dg.Failure("\n".join(why), allow_retries=False)


def reason_of(error: str, folder: Path, room: int = _ROOM) -> str:
    """Return why dbt failed without results of its models, from dagster-dbt's error and the disk of dbt's folder.

    That error begins with dbt's whole command line, which fills a page. On a disk with fewer free bytes than
    `room` dbt cannot write its own files, and its other words are consequences of that.
    """
    logged = error.partition(_LOGGED)[2]
    if shutil.disk_usage(folder).free < room or remedy_in(logged):
        return f"{folder}: dbt could not write: the disk is full{MAKE_ROOM}"
    without_colours = one_line(_COLOUR.sub("", logged))
    return without_colours or "dbt ended before it ran a model; its output is in the log of this run"


def _of_asset(event: Any) -> Any:  # noqa: ANN401 - any event of dagster-dbt
    """Return an event of dbt as an event of this step, since dbt was started without the step's context."""
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
    """Return whether the published file already has the marts that a build would make."""
    with as_failures():
        return is_up_to_date(settings)


def _started(
    context: dg.AssetExecutionContext, dbt: DbtCliResource, settings: Settings, manifest: Path, begun: Begun
) -> DbtCliInvocation:
    """Start dbt on all models, or on the models and checks that a user has selected."""
    warehouse = settings.warehouse.path
    target = results_file(warehouse).parent
    with as_failures():
        hourly = context.run.job_name in ONLY_NEWS and not reads_again(context.run)
        tests = options_of(begun, all_tests=not hourly, with_views=True)
    results_file(warehouse).unlink(missing_ok=True)
    with _environment(
        {**known_to_dbt(warehouse), **as_variables(duckdb_limits(settings)), "DBT_TARGET_PATH": os.fspath(target)}
    ):
        command = ["build", *tests, *as_options(dbt_variables(settings))]
        if _is_selection(context):
            return dbt.cli(command, context=context, target_path=target, raise_on_error=False)
        # With the step's context dagster-dbt would run only planned tests, and no job of vetl plans tests.
        return dbt.cli(
            command,
            manifest=manifest,
            dagster_dbt_translator=_Translator(),
            target_path=target,
            raise_on_error=False,
        )


def _is_selection(context: dg.AssetExecutionContext) -> bool:
    """Return whether a user has selected models or checks. Jobs of vetl build all models and plan no check."""
    chosen = len(context.selected_asset_keys) < len(context.assets_def.node_keys_by_output_name)
    return chosen or bool(context.selected_asset_check_keys)


def _was_locked_out(invocation: DbtCliInvocation, warehouse: Path) -> bool:
    return busy_in(str(invocation.get_error()), warehouse) is not None


def dbt_resource() -> dg.ResourceDefinition:
    """Return the dbt of this interpreter on the shipped project; its paths do not show in the launchpad."""
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
    """Return the keys of the published assets."""
    return sorted(key for key in models.keys if key.path[0] in SCHEMAS)


def manifest_of(settings: Settings) -> Path:
    """Return the project's manifest; write it first if it is missing, cut off or older than the project.

    A dbt that meets a full disk leaves half a manifest, with which no run could begin.
    """
    manifest = state_folder(settings.warehouse.path) / "target" / "manifest.json"
    written = manifest.stat().st_mtime if manifest.exists() else 0.0
    sources = (path for path in bundled.dbt_project().rglob("*") if path.suffix in {".sql", ".yml", ".md", ".csv"})
    if any(path.stat().st_mtime > written for path in sources) or not _is_whole(manifest):
        return dbt_parse(settings.warehouse.path, dbt_variables(settings))
    return manifest


def _is_whole(manifest: Path) -> bool:
    try:
        json.loads(manifest.read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return True


@contextmanager
def _environment(wanted: Mapping[str, str]) -> Generator[None]:
    """Replace vetl's and dbt's variables in the environment with `wanted` until the block ends.

    dagster-dbt starts dbt with the environment of this process: see `vetl.jobs.dbt_process.environment`.
    """
    before = dict(os.environ)
    for name in before:
        if name.startswith(OWN_VARIABLES):
            del os.environ[name]
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name in wanted:
            os.environ.pop(name, None)
        os.environ.update(before)
