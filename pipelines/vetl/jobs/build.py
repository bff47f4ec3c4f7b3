"""Build and publish the marts, for commands and Dagster's assets."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from vetl import bundled, hooks
from vetl.core.errors import PublicationHeld
from vetl.core.list_read import Practice
from vetl.core.pages import BESIDE_THE_LIST, WindowKind
from vetl.core.published_file import Treatment
from vetl.core.text import some_of
from vetl.endpoints import REGISTRY
from vetl.jobs import dbt_process
from vetl.jobs.headlines import find_headlines
from vetl.publishing import contacts, copies, descriptions, last_publication, publication, replacing
from vetl.settings import Settings
from vetl.settings.core_sections import DefinitionsSettings, PrivacySettings, WarehouseSettings
from vetl.store.connection import attached, wait_until_free
from vetl.store.control import builds
from vetl.store.control.phone_numbers import note_phone_numbers
from vetl.store.instants import differences
from vetl.store.warehouse import Place, existing, opened, working, writing
from vetl.store.writer_lock import read_activity, recorded


def building(
    settings: Settings,
    *,
    full_refresh: bool = False,
    all_tests: bool = True,
    select: Sequence[str] = (),
) -> dbt_process.Nodes:
    """Build the marts from the committed rows; wait for another writer for at most `lock_wait_seconds`.

    Without `all_tests` only models are made that hang on changed rows, and only published ones are tested
    (`options_of`). With `select` only these models and tests are run, and the build counts for no others.
    """
    warehouse, definitions = settings.warehouse, settings.definitions
    path, wait, limits = warehouse.path, warehouse.lock_wait_seconds, warehouse.duckdb_limits()
    variables = dbt_variables(settings.practices, definitions)
    treatments(settings.privacy)
    existing(warehouse)
    with working(warehouse, "build", "build") as recorder:
        yield dbt_process.NodeDone(0, 0, {})  # dbt takes seconds until its first node is done
        hooks.before_build(settings)
        begun = _begin(warehouse, definitions.phone_regions, variables, full_refresh=full_refresh)
        extra = dbt_process.options_of(begun.changed, is_full=begun.is_full, all_tests=all_tests, select=select)
        result = yield from dbt_process.dbt_nodes(
            path, variables=variables, extra=extra, limits=limits, lock_wait_seconds=wait
        )
        if result.failures:
            recorder.error = f"{some_of(result.failures, 1)}; log at {dbt_process.log_file(path)}"
        elif not result.skipped:
            with attached(path, lock_wait_seconds=wait) as connection:
                if select:
                    builds.resume(connection, begun.changed)
                else:
                    find_headlines(connection, path, definitions.holidays_of, settings.privacy.fewest_people)
                    builds.finish(connection, begun.made_with, is_full=begun.is_full)
        return replace(result, because=begun.because)


@dataclass(frozen=True, slots=True)
class Begun:
    """A build that began: whether in full, and the sources that changed since the last one, `None` for all."""

    made_with: str
    is_full: bool
    changed: frozenset[str] | None

    @property
    def because(self) -> str:
        """Return which models are made, and why."""
        if self.is_full:
            return "all models in full, as requested or for other definitions"
        if self.changed is None:
            return "all models, because the last build was not whole or practices were set otherwise"
        lists = sorted(name.removeprefix("partner.") for name in self.changed if name.startswith("partner."))
        return f"what hangs on the time{''.join(f', {name}' for name in lists)}"


def _begin(place: Place, regions: Mapping[str, str], variables: Mapping[str, Any], *, full_refresh: bool) -> Begun:
    """Wait until no other process holds the warehouse, create the tables that dbt reads, and begin a build.

    These are all raw tables, and the table of telephone numbers in their standard form.
    """
    made_with = dbt_process.fingerprint(place.path, variables)
    with opened(place) as warehouse, warehouse.writing() as connection:
        numbers = note_phone_numbers(connection, regions)
        is_full, changed = builds.begin(connection, made_with, full_refresh=full_refresh)
    if numbers and changed is not None:
        changed |= {"control.phone_numbers"}
    return Begun(made_with, is_full, changed)


def doubt_build(settings: Settings) -> None:
    """Make the next build one in full if models are made one by one now, with other definitions than the rest."""
    warehouse = settings.warehouse
    if warehouse.path.exists():
        with attached(warehouse.path, lock_wait_seconds=warehouse.lock_wait_seconds) as connection:
            builds.doubt(connection, _made_with(settings))


def _made_with(settings: Settings) -> str:
    variables = dbt_variables(settings.practices, settings.definitions)
    return dbt_process.fingerprint(settings.warehouse.path, variables)


def dbt_variables(practices: Sequence[Practice], definitions: DefinitionsSettings) -> dict[str, Any]:
    """Return dbt's variables: lists with their tables, kinds of windows, corrected times, definitions."""
    windows = {"apart": [kind.value for kind in BESIDE_THE_LIST], "moving": WindowKind.TAIL.value}
    lists = {item.name: item.table for item in REGISTRY}
    first = min((practice.history_start for practice in practices), default=date.max)
    others = differences((practice.time_zone for practice in practices), first)
    corrections = {
        zone: [(str(start), str(end), seconds) for start, end, seconds in spans] for zone, spans in others.items()
    }
    return {
        "lists": lists,
        "windows": windows,
        "zone_corrections": corrections,
        **definitions.variables(),
    }


def read_manifest(settings: Settings) -> dict[str, Any]:
    """Return the manifest; write it first if it is missing, cut off or older than the project.

    A dbt that meets a full disk leaves half a manifest, with which no run could begin.
    """
    file = dbt_process.state_folder(settings.warehouse.path) / "target" / "manifest.json"
    written = file.stat().st_mtime if file.exists() else 0.0
    sources = (path for path in bundled.dbt_project().rglob("*") if path.suffix in {".sql", ".yml", ".md", ".csv"})
    if not any(path.stat().st_mtime > written for path in sources):
        try:
            return json.loads(file.read_text("utf-8"))
        except (OSError, ValueError):
            pass
    variables = dbt_variables(settings.practices, settings.definitions)
    return json.loads(dbt_process.dbt_parse(settings.warehouse.path, variables).read_text("utf-8"))


def publish_marts(
    warehouse: WarehouseSettings, privacy: PrivacySettings, *, accept_loss: bool = False
) -> publication.Published:
    """Replace the published file by the current marts, then the files that are published beside it.

    `accept_loss`: also if a mart has lost most of its rows.
    """
    key = warehouse.pii_key
    refuse_while_held(warehouse)
    existing(warehouse)
    with working(warehouse, "publication", "publish"):
        wait_until_free(warehouse.path, warehouse.lock_wait_seconds)
        published = publication.publish(
            warehouse.path,
            warehouse.published,
            pii=treatments(privacy),
            pii_key=key.get_secret_value() if key else None,
            shared=privacy.shared,
            keep=warehouse.keep,
            accept_loss=accept_loss,
            limits=warehouse.duckdb_limits(),
        )
        if warehouse.contacts:
            contacts.write_contacts(warehouse.path, warehouse.published)
        else:
            contacts.remove_contacts(warehouse.published)
        _publish_parquet(warehouse)
        return published


def treatments(privacy: PrivacySettings) -> dict[str, dict[str, Treatment]]:
    """Return the treatments of the personal columns of every mart by `[privacy]`."""
    return privacy.treatments(descriptions.personal_columns(bundled.dbt_project()))


def published_clear(published: Path, privacy: PrivacySettings) -> list[str]:
    """Return a line with the personal columns that are published as they are, if there are any."""
    clear = [
        f"{mart}.{column}"
        for mart, columns in treatments(privacy).items()
        for column, treatment in columns.items()
        if treatment == "clear"
    ]
    clause = f"[privacy] publishes as they are, for all who may read {published}: "
    return [clause + ", ".join(clear)] if clear else []


def is_built(settings: Settings) -> bool:
    """Return whether the last build succeeded, and another build would not change the marts."""
    path = settings.warehouse.path
    last = read_activity(path, "build")
    if last is not None and last.outcome != "done":
        return False
    existing(settings.warehouse)
    with writing(settings.warehouse):
        hooks.before_build(settings)
        return builds.news(path, _made_with(settings)) is None


def is_up_to_date(settings: Settings) -> bool:
    """Return whether the published file is current; if it is, record a publication."""
    if not settings.warehouse.published.exists() or not is_built(settings):
        return False
    with recorded(settings.warehouse.path, "publication", "publish"):
        return True


def roll_back_published(warehouse: WarehouseSettings) -> last_publication.Hold:
    """Replace the published file by the one before it until the rollback is released."""
    existing(warehouse)
    with writing(warehouse):
        replacing.roll_back(warehouse.published)
        record = last_publication.hold(warehouse.path, warehouse.published)
        _publish_parquet(warehouse)
    return record


def refuse_while_held(warehouse: WarehouseSettings) -> None:
    """Refuse a publication after a rollback."""
    record = last_publication.read_hold(warehouse.path)
    if record:
        raise PublicationHeld(
            f"{warehouse.published}: was rolled back at {record.since} to the file of {record.published_at} and"
            " stays so; `vetl publish --release` publishes again"
        )


def _publish_parquet(warehouse: WarehouseSettings) -> None:
    if warehouse.parquet:
        copies.write_parquet(warehouse.published, warehouse.keep)
    else:
        copies.remove_parquet(warehouse.published)
