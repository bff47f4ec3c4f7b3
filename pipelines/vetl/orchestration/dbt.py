"""The dbt project as dagster-dbt describes it, built and published in one step."""

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import dagster as dg
import yaml
from dagster_dbt import DagsterDbtTranslator, DagsterDbtTranslatorSettings, DbtProject, dbt_assets
from dagster_shared.record import replace

from vetl import bundled
from vetl.core.endpoint import ByReference, Endpoint
from vetl.core.published_file import SCHEMAS
from vetl.endpoints import RECEIVED, REGISTRY
from vetl.jobs.build import is_up_to_date, read_manifest
from vetl.jobs.dbt_process import NodeDone, state_folder
from vetl.orchestration.checks import checked_if_it_fails, published_now
from vetl.orchestration.lists import reads_again
from vetl.orchestration.metadata import documented_in, table
from vetl.orchestration.resources import BUILDING, ONLY_NEWS, PUBLISHED, WRITER_POOL, VetlResource, raw_key
from vetl.publishing.publication import Published
from vetl.run import Event, Events, built, built_and_published, forgetting_in_words, forgotten, published
from vetl.settings import Settings
from vetl.store.person import read_plans
from vetl.store.tables import BOOKKEEPING
from vetl.store.warehouse import writing

_BROKEN = {
    True: "{} rows fail this test. The published file stays as it was; `vetl build` lists the failed tests.",
    False: "{} rows fail this test. It is a warning, and holds nothing back.",
}


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
    """Return the asset of a source, with the columns of its list, and those that mention its ids."""
    columns = [("practice_id", "VARCHAR"), *((item.name, item.kind.value) for item in endpoint.columns())]
    schema = dg.TableSchema([dg.TableColumn(name, kind) for name, kind in [*columns, *BOOKKEEPING]])
    source_path = f"/services/core/open_api/v1/{endpoint.path}"
    metadata: dict[str, Any] = {"dagster/column_schema": schema, "source": source_path}
    if isinstance(endpoint.strategy, ByReference):
        # The ids by which it is read; if one partitioned asset depends on another, a run needs a partition.
        mentions = [dg.TableColumnDep(raw_key(table), column) for table, column in endpoint.strategy.mentions]
        metadata["dagster/column_lineage"] = dg.TableColumnLineage({endpoint.key[0]: mentions})
    return source.replace_attributes(kinds={"python", "duckdb"}).merge_attributes(metadata=metadata)


def built_assets(dbt: DbtAssets) -> dg.AssetsDefinition:
    """Return the models and the published file, which one step builds and publishes, as `vetl run` does.

    Two steps would have to build every model each hour: Dagster skips a step if one of its inputs was not made.
    """
    file = dg.AssetSpec(
        PUBLISHED,
        deps=sorted(spec.key for spec in dbt.models if spec.key.path[0] in SCHEMAS),
        description="Only the marts, with personal data masked. One rename replaces the file: never half built.",
        group_name="published",
        owners=["team:analytics"],
        kinds={"duckdb"},
    )

    @dg.multi_asset(
        name="dbt_build",
        specs=[*dbt.models, file],
        check_specs=dbt.checks,
        can_subset=True,
        pool=WRITER_POOL,
    )
    def models(context: dg.AssetExecutionContext, vetl: VetlResource) -> Iterator[Any]:
        settings = vetl.settings()
        for event in checked_if_it_fails(settings, _built(context, settings, dbt)):
            if isinstance(event, dg.MaterializeResult) and context.run.job_name in BUILDING:
                # An output is an event more, and Dagster looks up the versions of its inputs for it. So only
                # a selection of a user has outputs, on which an asset of the user may wait.
                assert event.asset_key
                context.log_event(dg.AssetMaterialization(event.asset_key, metadata=event.metadata))
            else:
                yield event
        if context.run.job_name in BUILDING:
            yield from published_now(settings)

    return models


def _built(context: dg.AssetExecutionContext, settings: Settings, dbt: DbtAssets) -> Iterator[Any]:
    """Continue forgettings, then build, test and publish. The job decides whether it does so without news, too."""
    only_news = context.run.job_name in ONLY_NEWS
    if only_news and not read_plans(settings.warehouse.path) and is_up_to_date(settings):
        context.log.info("No new data; the published file is up to date.")
        yield _file(settings)
        return
    with writing(settings.warehouse):
        forgetting = (one for one in forgotten(settings) if getattr(one, "kind", "") != "published")
        building = _building(context, settings, dbt, all_tests=not only_news or reads_again(context.run))
        yield from _asset_events(context, settings, chain(forgetting, building), dbt)


def _building(context: dg.AssetExecutionContext, settings: Settings, dbt: DbtAssets, *, all_tests: bool) -> Events:
    """Return the events of the build of all models, or of those that a user has selected."""
    assets, checks = context.selected_asset_keys, context.selected_asset_check_keys
    if context.run.job_name in BUILDING:
        return built_and_published(settings, all_tests=all_tests)
    chosen = [unique_id.split(".")[2] for unique_id, key in dbt.keys.items() if key in assets | checks]
    if not chosen:
        return published(settings)
    return (built_and_published if PUBLISHED in assets else built)(settings, all_tests=all_tests, select=chosen)


def _asset_events(
    context: dg.AssetExecutionContext, settings: Settings, events: Iterable[Event | NodeDone], dbt: DbtAssets
) -> Iterator[Any]:
    """Yield the materializations and check results of a build; a publication counts the rows of the marts."""
    made: list[str] = []
    for event in events:
        if isinstance(event, NodeDone):
            if event.event:
                sys.stdout.write(f"{event.event['info']['msg']}\n")
                made.append(event.event["data"]["node_info"]["unique_id"])
                yield from _of_node(context, event.event["data"], dbt)
            continue
        match event.kind:
            case "forgotten":
                context.log.info(forgetting_in_words(event.result))
            case "built" if event.result.failures:
                raise dg.Failure("\n".join(event.result.failures), allow_retries=False)
            case "built":
                context.log.info("made %s", event.result.because)
            case "published":
                yield from _row_counts(event.result.tables, map(dbt.keys.get, made))
                yield _file(settings, event.result)
            case "told":
                context.log.warning(event.result)
            case "held":
                raise dg.Failure(str(event.result), allow_retries=False)
            case _:
                pass


def _of_node(context: dg.AssetExecutionContext, done: dict[str, Any], dbt: DbtAssets) -> Iterator[Any]:
    key, status = dbt.keys.get(done["node_info"]["unique_id"]), done["node_info"]["node_status"]
    seconds = {"seconds": round(done.get("execution_time") or 0.0, 2)}
    if isinstance(key, dg.AssetKey) and status == "success":
        yield dg.MaterializeResult(asset_key=key, metadata=seconds)
    elif isinstance(key, dg.AssetCheckKey) and status != "skipped":
        rows, is_error = done.get("num_failures") or 0, status != "warn"
        is_planned = key in context.selected_asset_check_keys
        yield (dg.AssetCheckResult if is_planned else dg.AssetCheckEvaluation)(
            passed=status == "pass",
            asset_key=key.asset_key,
            check_name=key.name,
            severity=dg.AssetCheckSeverity.ERROR if is_error else dg.AssetCheckSeverity.WARN,
            metadata={**seconds, "rows": rows},
            description=None if status == "pass" else _BROKEN[is_error].format(rows or "Some"),
        )


def _row_counts(rows: Mapping[str, int], made: Iterable[object]) -> Iterator[dg.AssetObservation]:
    """Yield the rows of the published models that were made, which their pages show."""
    for key in made:
        if isinstance(key, dg.AssetKey) and key.path[0] in SCHEMAS and key.path[-1] in rows:
            yield dg.AssetObservation(key, metadata={"dagster/row_count": rows[key.path[-1]]})


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
