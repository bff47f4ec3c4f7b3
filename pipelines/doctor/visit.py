"""One visit: every practice and list examined over one client."""

from collections.abc import Sequence

from pipelines.doctor.examination import Examination, check_practice, examine
from pipelines.doctor.finding import Examined, Finding
from pipelines.endpoint import ByReference, Endpoint
from pipelines.endpoints.phone_calls import PHONE_CALLS
from pipelines.errors import PracticeRefused, VetlError
from pipelines.partner.client import PartnerClient
from pipelines.performing import Performer, Run, together
from pipelines.practice import Practice


async def visit(run: Run, client: PartnerClient) -> Sequence[Examined]:
    """Examine every practice of the order; the failure of one list or practice is a finding of its own."""
    return [await _examine_practice(run, client, practice) for practice in run.order.practices]


async def _examine_practice(run: Run, client: PartnerClient, practice: Practice) -> Examined:
    findings: list[Finding] = []
    try:
        performer = Performer(run, practice, PHONE_CALLS)
        answers: Finding = await performer.drive(check_practice())
        findings.append(answers)
        if answers.state == "ok":
            findings += await _examine_lists(run, practice)
    except VetlError as error:
        findings.append(_unanswered("", error))
    return Examined(practice.id, tuple(findings), client.practices[practice.id].requests)


async def _examine_lists(run: Run, practice: Practice) -> list[Finding]:
    """Lists side by side; what is got by reference after the ones that mention it."""
    listed = [item for item in run.order.endpoints if not isinstance(item.strategy, ByReference)]
    referenced = [item for item in run.order.endpoints if isinstance(item.strategy, ByReference)]
    done = await together(_examine_list(run, practice, endpoint, ()) for endpoint in listed)
    clients = [identity for examination in done for identity in examination.clients]
    done += await together(_examine_list(run, practice, endpoint, clients) for endpoint in referenced)
    return [finding for examination in done for finding in examination.findings]


async def _examine_list(run: Run, practice: Practice, endpoint: Endpoint, clients: Sequence[str]) -> Examination:
    performer = Performer(run, practice, endpoint)
    try:
        examination: Examination = await performer.drive(examine(await performer.reading(), clients))
    except PracticeRefused:
        raise
    except VetlError as error:
        examination = Examination([_unanswered(endpoint.name, error)])
    await performer.committer.flush()
    return examination


def _unanswered(endpoint: str, error: VetlError) -> Finding:
    return Finding(endpoint, "list", "refused", "no answer", str(error), "run `vetl doctor` again in a while")
