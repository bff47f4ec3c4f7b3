"""One run as events: `forgotten`, `synced`, `drained`, `built`, `published`, `told`.

The command line prints the events or collects them for `--json`; Dagster makes materializations and checks of
them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from vetl import hooks
from vetl.core.errors import BuildFailed, PublicationHeld, VetlError, is_of_a_full_disk
from vetl.core.list_read import ReportProgress
from vetl.forgetting.job import Forgetting, finish_forgettings
from vetl.jobs.build import building, is_built, publish_marts, treatments
from vetl.jobs.dbt_process import NodeDone, log_file
from vetl.jobs.drain import run_drain
from vetl.jobs.sync import chosen_practices, run_sync
from vetl.settings import Settings
from vetl.settings.core_sections import WarehouseSettings
from vetl.store.notes import refuse_newer
from vetl.store.warehouse import existing, writing

WORST_FIRST = (1, 2, 3, 0)
Kind = Literal["forgotten", "synced", "drained", "built", "kept", "published", "current", "held", "told", "failed"]


@dataclass(frozen=True, slots=True)
class Event:
    """The result of a step, and its exit code.

    `kept` is the line that the published file stays as it was; `current` is a file that was up to date already;
    `held` is a publication that a rollback prevents; `told` is a line of an addon.
    """

    kind: Kind
    result: Any
    exit_code: int = 0


Events = Iterator[Event | NodeDone]
Reading = Callable[[int], AbstractContextManager[ReportProgress]]
"""Shows the progress of the lists of so many practices."""


def run(settings: Settings, practices: Sequence[str] | None, reading: Reading) -> Events:
    """Forget, sync, drain, build and publish; if a step fails, the next ones follow, unless the disk is full.

    `practices` limits the sync; the marts are built for all practices. Nothing is built if no row changed and the
    marts do not depend on the time that passed.

    Raise `ConfigurationError` if a practice is not configured, credentials are not set, or `[privacy]` is
    wrong. Nothing was changed.
    """
    settings.login()
    chosen_practices(settings.practices, practices)
    treatments(settings.privacy)
    codes: list[int] = []
    with writing(settings.warehouse):
        refuse_newer(settings.warehouse.path)
        for step in (
            forgotten,
            partial(synced, practices=practices, reading=reading),
            drained,
            partial(_news, codes),
        ):
            for event in _caught(step(settings)):
                yield event
                if isinstance(event, Event):
                    codes.append(event.exit_code)
                    if event.kind == "failed" and is_of_a_full_disk(str(event.result)):
                        return  # the next step writes to the same disk, and would fail with the same line


def _caught(events: Events) -> Events:
    try:
        yield from events
    except VetlError as error:
        yield Event("failed", error, error.exit_code)


def forgotten(settings: Settings) -> Events:
    """Continue each `vetl forget` that was interrupted or incomplete."""
    seen: list[Event] = []

    def build() -> dict[str, Any]:
        events = built_and_published(settings, full_refresh=True)
        seen.extend(event for event in events if isinstance(event, Event))
        return report_of(seen)

    try:
        done = finish_forgettings(settings, build)
    finally:
        yield from seen
    yield from (Event("forgotten", one, one.exit_code) for one in done)


def forgetting_in_words(done: Forgetting) -> str:
    """Return the line about a forgetting that was continued; it names no person."""
    rest = f"not complete: still mentioned in {', '.join(done.left)}" if done.left else "complete"
    return f"the forgetting of {done.pseudonym} is {rest}"


def synced(settings: Settings, practices: Sequence[str] | None, reading: Reading) -> Events:
    """Read new and changed rows; a failed list is in the result."""
    with reading(len(practices or settings.practices)) as progress:
        result = run_sync(settings, practices=practices, endpoints=None, since=None, progress=progress)
    yield Event("synced", result, result.exit_code)


def drained(settings: Settings) -> Events:
    """Move the inbox of webhooks into the warehouse, if there is one."""
    if settings.webhooks.inbox.exists():
        result = run_drain(settings)
        yield Event("drained", result, result.exit_code)


def _news(codes: Sequence[int], settings: Settings) -> Events:
    """Build and publish; only publish if nothing has changed. `codes` are those of the steps before."""
    if not settings.warehouse.path.exists():
        return
    if any(codes) or not is_built(settings):
        yield from built_and_published(settings, all_tests=False)
    else:
        # Publish all the same: the published file may be missing, or `[privacy]` may have changed.
        yield from published(settings, "current")


def built_and_published(settings: Settings, **how: Any) -> Events:  # noqa: ANN401 - as `building`
    """Build the marts; publish them only if every node was built, so that analysts never see half a build."""
    existing(settings.warehouse)
    with writing(settings.warehouse):
        for event in built(settings, **how):
            yield event
            if isinstance(event, Event) and event.kind == "built" and not event.exit_code:
                yield from published(settings)


def built(settings: Settings, **how: Any) -> Events:  # noqa: ANN401 - as `building`
    """Build the marts as `building` does; if a node failed, say that the published file stays."""
    try:
        result = yield from building(settings, **how)
    except BuildFailed as error:
        raise BuildFailed(f"{error}; {_not_published(settings.warehouse)}") from None
    yield Event("built", result, result.exit_code)
    if result.failures:
        yield Event("kept", _not_published(settings.warehouse), 1)


def published(settings: Settings, kind: Kind = "published") -> Events:
    """Publish the marts, unless a rolled-back file is kept, and have the addons use the new file."""
    try:
        yield Event(kind, publish_marts(settings.warehouse, settings.privacy))
    except PublicationHeld as hold:
        yield Event("held", hold, hold.exit_code)
        return
    yield from (Event("told", line) for line in hooks.after_publication(settings))


def report_of(events: Sequence[Event]) -> dict[str, Any]:
    """Return the events as one document; each kind has the last one of it."""
    report: dict[str, Any] = {"build": None, "published": None}
    codes = [0]
    for event in events:
        codes.append(event.exit_code)
        match event.kind:
            case "synced" | "drained":
                report[{"synced": "sync", "drained": "drain"}[event.kind]] = event.result.as_json()
            case "built":
                report["build"] = asdict(event.result)
            case "published" | "current":
                report["published"] = asdict(event.result)
            case "failed":
                report["error"] = str(event.result)
            case _:
                pass
    return {**report, "exit_code": next(code for code in WORST_FIRST if code in codes)}


def _not_published(warehouse: WarehouseSettings) -> str:
    stays = f"; {_short(warehouse.published)} stays as it was" if warehouse.published.exists() else ""
    return f"not published{stays}; log at {_short(log_file(warehouse.path))}"


def _short(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
