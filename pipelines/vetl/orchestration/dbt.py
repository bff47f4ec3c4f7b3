"""The dbt project as assets, one for each model with its tests as checks, and the published file."""

import json
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_dbt import DagsterDbtTranslator, DagsterDbtTranslatorSettings, dbt_assets
from dagster_dbt.core.dbt_cli_event import DbtCoreCliEventMessage

from vetl import bundled
from vetl.core.published_file import SCHEMAS
from vetl.jobs.build import dbt_variables, is_up_to_date
from vetl.jobs.dbt_process import NodeDone, dbt_parse, state_folder
from vetl.orchestration.checks import EVERYTHING, checked_if_it_fails
from vetl.orchestration.lists import reads_again
from vetl.orchestration.metadata import code_in, documented_in, table
from vetl.orchestration.raw_tables import owners
from vetl.orchestration.resources import PUBLISHED, WRITER_POOL, VetlResource, as_failures
from vetl.publishing.publication import Published
from vetl.run import Event, Events, built, built_and_published, forgotten, published
from vetl.settings import Settings
from vetl.store.person import read_plans
from vetl.store.warehouse import writing

ONLY_NEWS = (EVERYTHING, "drain")
"""Jobs that build only if data changed, and then test only the published models. Other jobs always build."""

_UP_TO_DATE = "No new data; the published file is up to date."
_BROKEN = "{rows} rows fail this test. The published file stays as it was; `vetl build` lists the failed tests."


class _Translator(DagsterDbtTranslator):
    """Groups and owners of dbt's own config, and views as virtual assets.

    Tests of the raw tables are no checks: each backfill of a list would start dbt for them.
    """

    def __init__(self) -> None:
        super().__init__(DagsterDbtTranslatorSettings(enable_dbt_views_as_virtual_assets=True))

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


def built_assets(manifest: Path) -> dg.AssetsDefinition:
    """Return the models and the published file, which one step builds and publishes, as `vetl run` does.

    Two steps would have to build every model each hour: Dagster skips a step if one of its inputs was not made.
    """
    with warnings.catch_warnings():
        # Dagster calls virtual assets a preview. Without them the checks of views stand as never run.
        warnings.simplefilter("ignore", dg.PreviewWarning)

        @dbt_assets(manifest=manifest, name="described_by_dbt", dagster_dbt_translator=_Translator())
        def described() -> Iterator[Any]:
            yield from ()  # its assets and checks are made by the step below

        @dg.multi_asset(
            name="dbt_build",
            specs=[*described.specs, _published_file(described.keys)],
            check_specs=[*described.check_specs],
            can_subset=True,
            pool=WRITER_POOL,
            allow_arbitrary_check_specs=True,
        )
        def models(context: dg.AssetExecutionContext, vetl: VetlResource) -> Iterator[Any]:
            settings = vetl.settings()
            yield from checked_if_it_fails(settings, _built(context, settings, manifest))

    return models


def _published_file(models: Iterable[dg.AssetKey]) -> dg.AssetSpec:
    return dg.AssetSpec(
        PUBLISHED,
        deps=sorted(key for key in models if key.path[0] in SCHEMAS),
        description="Only the marts, with personal data masked. One rename replaces the file: never half built.",
        group_name="published",
        owners=["team:analytics"],
        kinds={"duckdb"},
    )


def _built(context: dg.AssetExecutionContext, settings: Settings, manifest: Path) -> Iterator[Any]:
    """Continue forgettings, then build, test and publish. The job decides whether it does so without news, too."""
    only_news = context.run.job_name in ONLY_NEWS
    with as_failures():
        if only_news and not read_plans(settings.warehouse.path) and is_up_to_date(settings):
            context.log.info(_UP_TO_DATE)
            yield _file(settings)
            return
        all_tests = not only_news or reads_again(context.run)
        with writing(settings.warehouse):
            continued = [
                one for one in forgotten(settings) if not (isinstance(one, Event) and one.kind == "published")
            ]
            yield from _asset_events(context, settings, continued, manifest)
            yield from _asset_events(
                context, settings, _building(context, settings, manifest, all_tests=all_tests), manifest
            )


def _building(context: dg.AssetExecutionContext, settings: Settings, manifest: Path, *, all_tests: bool) -> Events:
    """Return the events of the build of all models, or of those that a user has selected."""
    assets, checks = context.selected_asset_keys, context.selected_asset_check_keys
    publishes = PUBLISHED in assets
    if not checks and len(assets) == len(context.assets_def.node_keys_by_output_name):
        return built_and_published(settings, all_tests=all_tests)
    chosen = _names(context, json.loads(manifest.read_text("utf-8")))
    if not chosen:
        return published(settings)
    return (built_and_published if publishes else built)(settings, all_tests=all_tests, select=chosen)


def _names(context: dg.AssetExecutionContext, manifest: Mapping[str, Any]) -> list[str]:
    """Return dbt's names of the selected models and tests."""
    translator = _Translator()
    models = [
        node["name"]
        for node in manifest["nodes"].values()
        if node["resource_type"] == "model" and translator.get_asset_key(node) in context.selected_asset_keys
    ]
    return [*models, *(key.name for key in context.selected_asset_check_keys)]


def _asset_events(
    context: dg.AssetExecutionContext, settings: Settings, events: Iterable[Event | NodeDone], manifest: Path
) -> Iterator[Any]:
    """Yield the materializations and check results of a build.

    With the context of the step dagster-dbt makes results of planned tests only, and no job of vetl plans tests.
    """
    planned = context if context.selected_asset_check_keys else None
    for event in events:
        if isinstance(event, NodeDone):
            if event.event:
                sys.stdout.write(f"{event.event['info']['msg']}\n")
                message = DbtCoreCliEventMessage(raw_event=event.event, event_history_metadata={})
                yield from map(_of_step, message.to_default_asset_events(manifest, _Translator(), planned))
            continue
        match event.kind:
            case "forgotten":
                left = event.result.left
                rest = f"still mentioned in {', '.join(left)}" if left else "is complete"
                context.log.info("the forgetting of %s %s", event.result.pseudonym, rest)
            case "built" if event.result.failures:
                raise dg.Failure("\n".join(event.result.failures), allow_retries=False)
            case "built":
                context.log.info("made %s", event.result.because)
            case "published":
                yield _file(settings, event.result)
            case "told":
                context.log.warning(event.result)
            case "held":
                raise dg.Failure(str(event.result), allow_retries=False)
            case _:
                pass


def _file(settings: Settings, result: Published | None = None) -> dg.MaterializeResult[Any]:
    """Return the result of the published file; without a publication it was current already."""
    file = settings.warehouse.published
    metadata = {"path": dg.MetadataValue.path(file), "bytes": file.stat().st_size, "is_new": result is not None}
    if result:
        metadata |= {
            "tables": len(result.tables),
            "rows": sum(result.tables.values()),
            "marts": table(("mart", "rows"), sorted(result.tables.items())),
        }
    return dg.MaterializeResult(asset_key=PUBLISHED, metadata=metadata)


def _of_step(event: Any) -> Any:  # noqa: ANN401 - any event of dagster-dbt
    """Return an event of dagster-dbt as an event of this step."""
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
