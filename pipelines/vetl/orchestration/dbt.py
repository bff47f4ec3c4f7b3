"""The dbt project as assets, one for each model with its tests as checks, and the published file."""

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import dagster as dg

from vetl.core.published_file import SCHEMAS
from vetl.jobs.build import is_up_to_date
from vetl.jobs.dbt_process import NodeDone
from vetl.orchestration.checks import checked_if_it_fails, published_now
from vetl.orchestration.dbt_project import DbtAssets
from vetl.orchestration.lists import reads_again
from vetl.orchestration.metadata import table
from vetl.orchestration.resources import (
    BUILDING,
    DRAIN,
    EVERYTHING,
    PUBLISHED,
    WRITER_POOL,
    VetlResource,
    as_failures,
)
from vetl.publishing.publication import Published
from vetl.run import Event, Events, built, built_and_published, forgotten, published
from vetl.settings import Settings
from vetl.store.person import read_plans
from vetl.store.warehouse import writing

ONLY_NEWS = (EVERYTHING, DRAIN)
"""Jobs that build only if data changed, and then test only the published models. Other jobs always build."""

_UP_TO_DATE = "No new data; the published file is up to date."
_BROKEN = {
    True: "{} rows fail this test. The published file stays as it was; `vetl build` lists the failed tests.",
    False: "{} rows fail this test. It is a warning, and holds nothing back.",
}


def built_assets(dbt: DbtAssets) -> dg.AssetsDefinition:
    """Return the models and the published file, which one step builds and publishes, as `vetl run` does.

    Two steps would have to build every model each hour: Dagster skips a step if one of its inputs was not made.
    """
    with warnings.catch_warnings():
        # Dagster calls virtual assets a preview. Without them the checks of views stand as never run.
        warnings.simplefilter("ignore", dg.PreviewWarning)

        @dg.multi_asset(
            name="dbt_build",
            specs=[*dbt.models, _published_file(spec.key for spec in dbt.models)],
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


def _published_file(models: Iterable[dg.AssetKey]) -> dg.AssetSpec:
    return dg.AssetSpec(
        PUBLISHED,
        deps=sorted(key for key in models if key.path[0] in SCHEMAS),
        description="Only the marts, with personal data masked. One rename replaces the file: never half built.",
        group_name="published",
        owners=["team:analytics"],
        kinds={"duckdb"},
    )


def _built(context: dg.AssetExecutionContext, settings: Settings, dbt: DbtAssets) -> Iterator[Any]:
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
            yield from _asset_events(context, settings, continued, dbt)
            building = _building(context, settings, dbt, all_tests=all_tests)
            yield from _asset_events(context, settings, building, dbt)


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
                left = event.result.left
                rest = f"still mentioned in {', '.join(left)}" if left else "is complete"
                context.log.info("the forgetting of %s %s", event.result.pseudonym, rest)
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
    """Yield the event of a model or a test that dbt has run."""
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


def _row_counts(
    rows: Mapping[str, int], made: Iterable[dg.AssetKey | dg.AssetCheckKey | None]
) -> Iterator[dg.AssetObservation]:
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
