"""Which checks a list gets: all of them from `vetl doctor`, the essential ones before `sync` first reads it."""

from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pipelines.doctor.asking import Known, fields_at_fault, recall
from pipelines.doctor.calls import check_calls
from pipelines.doctor.contents import check_contents, check_total_pages
from pipelines.doctor.edges import check_edges
from pipelines.doctor.finding import Finding
from pipelines.doctor.keeping import PARAMETERS, QUERY_PARAMETERS, UNUSABLE, is_hopeless, keep, known_already
from pipelines.doctor.numbers import check_numbers
from pipelines.doctor.people import check_clients, check_patients
from pipelines.doctor.ranges import check_range
from pipelines.doctor.sizes import check_size
from pipelines.doctor.statuses import check_statuses
from pipelines.doctor.taking import take_names
from pipelines.endpoint import ByReference, DateWindows, QueryNames, UpdatedWindows
from pipelines.errors import ConfigurationError, NotFound, PracticeRefused, RequestRefused
from pipelines.pages import Page, Row
from pipelines.partner.models import CALL_STATES, PhoneCall
from pipelines.partner.models import Known as KnownValues
from pipelines.steps import ReadPage, Step
from pipelines.strategies.reading import Reading

T = TypeVar("T")
Checking = Generator[Step, Any, T]
Found = Checking[list[Finding]]

WITHOUT_TOTAL_PAGES = frozenset({"booking_sessions"})


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found at one list, and the ids of clients that its rows mention."""

    findings: Sequence[Finding]
    clients: Sequence[str] = ()


def examine(reading: Reading, clients: Sequence[str] = ()) -> Checking[Examination]:
    """All checks of one list. `clients` are ids that other rows mention.

    Raises:
        PracticeRefused: the platform answers nothing for this practice.
    """
    endpoint = reading.endpoint
    try:
        match endpoint.strategy:
            case DateWindows():
                return (yield from _examine_calls(reading))
            case ByReference():
                check = check_clients if endpoint.name == "clients" else check_patients
                return Examination((yield from check(clients)))
            case _:
                return Examination((yield from _examine_list(reading)))
    except PracticeRefused:
        raise
    except NotFound as error:
        withdrawn = isinstance(endpoint.strategy, UpdatedWindows) and endpoint.strategy.may_be_withdrawn
        if withdrawn:
            evidence = f"{error}; it is declared proposed, vetl keeps the data it has"
            return Examination([Finding(endpoint.name, "list", "note", "withdrawn", evidence)])
        remedy = "check partner.base_url, and ask the platform whether this practice has the list"
        return Examination([Finding(endpoint.name, "list", "refused", "not there", str(error), remedy)])


def check_practice() -> Checking[Finding]:
    """Whether the platform answers for this practice: the call list needs no parameter (contract: Phone calls)."""
    try:
        yield ReadPage({}, 0, 1, lenient=True)
    except RequestRefused as refusal:
        remedy = "check the id in [[practices]], and ask the platform whether the credentials are good for it"
        return Finding("", "practice", "refused", str(refusal.status), str(refusal), remedy)
    return Finding("", "practice", "ok", "answers", "the call list answers for this X-Client-Id")


def essentials(reading: Reading) -> Checking[None]:
    """What `sync` must know before it first reads a list: which parameters work, and under which names.

    Nothing is asked where the contract shows the names, or where they are known already. A list that was empty
    is asked again at each sync, for at most two requests where its names are as configured; one whose rows are
    on a single page for one.

    Raises:
        ConfigurationError: the list cannot be read whole, because a parameter it needs is known to be ignored.
        RequestRefused: the list is not there, or refuses every form of the question.
    """
    if isinstance(reading.endpoint.strategy, DateWindows | ByReference):
        return
    name, unusable = reading.endpoint.name, reading.capabilities.get(UNUSABLE)
    if unusable:
        raise ConfigurationError(f"{name}: {unusable}; when that has changed, run `vetl doctor`")
    states: Mapping[str, str] = reading.capabilities.get(PARAMETERS, dict.fromkeys(QUERY_PARAMETERS, "open"))
    known = known_already(reading)
    findings = yield from _parameters(known, [item for item, state in states.items() if state == "open"])
    yield from keep(known, findings)
    for finding in filter(is_hopeless, findings):
        raise ConfigurationError(f"{name}: {finding.evidence}; {finding.remedy}")


def _examine_list(reading: Reading) -> Found:
    known = Known(reading, reading.names)
    findings = yield from _parameters(known)
    page = yield from recall(known, {**known.whole, **known.largest})
    if page is not None:
        if isinstance(reading.endpoint.strategy, UpdatedWindows) and known.bounds != "none":
            findings += yield from check_edges(known, page.rows)
        findings += yield from _contents(known, page)
    yield from keep(known, findings)
    return findings


def _parameters(known: Known, wanted: Collection[str] = QUERY_PARAMETERS) -> Found:
    """Those of the query parameters that are wanted, which the contract does not show."""
    findings: list[Finding] = []
    if wanted and not isinstance(known.reading.endpoint.strategy, UpdatedWindows):
        yield from fields_at_fault(known)  # a list that is not there says so here
    elif "start" in wanted:
        findings += yield from check_range(known)
    if "per_page" in wanted:
        findings += yield from check_size(known)
    if "page" in wanted:
        findings += yield from check_numbers(known)
    statuses = _statuses(known.reading)
    if "status" in wanted and statuses:
        findings += yield from check_statuses(known, statuses)
    yield from take_names(known, [finding.check for finding in findings if finding.state == "unknown"], statuses)
    return findings


def _contents(known: Known, page: Page) -> Found:
    promised = known.endpoint not in WITHOUT_TOTAL_PAGES
    told = list(check_total_pages(known, page, promised=promised))
    return [*told, *(yield from check_contents(known, page, known.reading.endpoint.record))]


def _examine_calls(reading: Reading) -> Checking[Examination]:
    """The contract shows the parameters of the calls, so none is looked for under another name."""
    known = Known(reading, QueryNames(status="state"))
    findings = yield from check_range(known, fixed=True)
    findings += yield from check_size(known, fixed=True)
    findings += yield from check_numbers(known, fixed=True)
    findings += yield from check_statuses(known, CALL_STATES.values, column="state", fixed=True)
    page = yield from recall(known, {**known.whole, **known.largest})
    if page is not None:
        findings += list(check_total_pages(known, page, promised=True))
        findings += yield from check_contents(known, page, PhoneCall)
        findings += yield from check_calls(known, page.rows)
    return Examination(findings, clients_in(page.rows if page else ()))


def _statuses(reading: Reading) -> tuple[str, ...]:
    """The values of `status` that the contract lists; a list without them has no such filter."""
    field = reading.endpoint.record.model_fields.get("status")
    annotations = field.metadata if field else ()
    return next((item.values for item in annotations if isinstance(item, KnownValues)), ())


def clients_in(rows: Sequence[Row]) -> list[str]:
    """The client ids that rows mention."""
    return list(dict.fromkeys(str(row["client_id"]) for row in rows if row.get("client_id") is not None))
