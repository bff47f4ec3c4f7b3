"""The job that sends the letters of `[report]`, for its schedule."""

import dagster as dg

from vetl.jobs.report import report
from vetl.orchestration.resources import VetlResource, as_failures

LETTERS = "letters"


@dg.op(description="Send each reader the letter about the last closed week, unless it was sent before.")
def send_letters(context: dg.OpExecutionContext, vetl: VetlResource) -> None:
    """Send the letters.

    Raises:
        dagster.Failure: a letter was not delivered, or it is unknown whether it was.
    """
    settings = vetl.settings()
    if not settings.report.recipients:
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
