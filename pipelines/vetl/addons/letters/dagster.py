"""The job that sends the letters of `[report]`, for its schedule."""

import dagster as dg

from vetl.addons.letters.job import report
from vetl.addons.letters.settings import LetterSchedule, ReportSettings
from vetl.orchestration.resources import VetlResource, as_failures
from vetl.orchestration.schedules import schedule
from vetl.settings import Settings

LETTERS = "letters"


@dg.op(description="Send each reader the letter about the last closed week, unless it was sent before.")
def send_letters(context: dg.OpExecutionContext, vetl: VetlResource) -> None:
    """Send the letters."""
    settings = vetl.settings()
    if not ReportSettings.of(settings).recipients:
        context.log.info("Skipped: no reader is set in [[report.recipients]]")
        return
    with as_failures():
        done = report(settings)
    for item in done.deliveries:
        context.log.info("%s by %s: %s", item.reader, item.way, item.state)
    lost = [
        f"{item.reader} by {item.way}: {item.state} {item.note}"
        for item in done.deliveries
        if item.state in {"failed", "unknown"}
    ]
    if lost:
        raise dg.Failure("\n".join(lost), allow_retries=False)


@dg.job(name=LETTERS, description="Send the letter about the last closed week: the same as `vetl report`.")
def letters() -> None:
    """Send the letters."""
    send_letters()


def definitions(settings: Settings) -> dg.Definitions:
    """Return the job with its schedule."""
    cron, description = LetterSchedule.of(settings).letter, "Send the letter about the last closed week."
    tick = schedule(settings.schedule, "letter", cron, LETTERS, dict, description)
    return dg.Definitions(jobs=[letters], schedules=tick)
