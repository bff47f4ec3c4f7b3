"""`vetl forget`: a person leaves, the counts stay."""

from typing import Any

from pipelines.cli.output import configure_logs
from pipelines.cli.run import build_and_publish
from pipelines.cli.terminal import count, print_json, print_line, say
from pipelines.jobs.forget import forget_person
from pipelines.jobs.lake import renew_lakes
from pipelines.jobs.one_writer import writing
from pipelines.loading.published.hold import release as release_hold
from pipelines.loading.published.kept import remove_kept
from pipelines.settings import Settings, load_settings


def forget(practice: str, client: str, *, as_json: bool, verbosity: int) -> int:
    """Take the person out of everything private, build in full, publish, and remove what was published before."""
    configure_logs(verbosity)
    settings = load_settings()
    with writing(settings):
        return _forget(settings, practice, client, as_json=as_json)


def _forget(settings: Settings, practice: str, client: str, *, as_json: bool) -> int:
    person = forget_person(settings, practice, client)
    if release_hold(settings.warehouse.path):
        say("the rollback of the published file is released: that file holds the person")
    published = build_and_publish(settings, full_refresh=True, quiet=as_json)
    removed = remove_kept(settings.warehouse.published) if published["exit_code"] == 0 else []
    lakes = renew_lakes(settings) if published["exit_code"] == 0 else []
    forgotten = person.warehouse
    report: dict[str, Any] = {
        **published,
        "pseudonym": forgotten.pseudonym,
        "rows": forgotten.rows,
        "deliveries": person.deliveries,
        "removed": removed,
        "lakes": lakes,
    }
    if as_json:
        print_json(report)
        return report["exit_code"]
    rows = count(sum(forgotten.rows.values()), "row")
    erased = count(person.deliveries, "delivery").replace("deliverys", "deliveries")
    print_line(f"Forgotten: {rows} stay under {forgotten.pseudonym}, {erased} erased")
    for file in removed:
        say(f"removed {file}: it was published before")
    for lake in lakes:
        say(f"{lake}: rewritten; what it held before is gone")
    if report["exit_code"]:
        say(f"warning: {settings.warehouse.published} still holds the person, as the marts could not be built")
    say("Delete them on the platform first, or the next sync imports them again. Backups still hold them.")
    return report["exit_code"]
