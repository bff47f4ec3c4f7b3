"""Which checks a list gets, and what of their answers is kept for `sync` (`control.capabilities`)."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from pipelines.doctor.asking import Known, ask, fields_at_fault
from pipelines.doctor.calls import check_calls
from pipelines.doctor.contents import check_contents, check_total_pages
from pipelines.doctor.edges import check_edges
from pipelines.doctor.finding import Finding
from pipelines.doctor.numbers import check_numbers
from pipelines.doctor.people import check_clients, check_patients
from pipelines.doctor.ranges import check_range
from pipelines.doctor.sizes import check_size
from pipelines.doctor.statuses import check_statuses
from pipelines.endpoint import ByReference, DateWindows, QueryNames, UpdatedWindows
from pipelines.errors import NotFound, PracticeRefused, RequestRefused
from pipelines.pages import Page, Row
from pipelines.partner.models import CALL_STATES, PhoneCall
from pipelines.partner.models import Known as KnownValues
from pipelines.steps import Learnt, ReadPage, Step
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


def _examine_list(reading: Reading) -> Found:
    endpoint = reading.endpoint
    known = Known(reading, reading.names)
    findings: list[Finding] = []
    if isinstance(endpoint.strategy, UpdatedWindows):
        findings += yield from check_range(known)
    else:
        yield from fields_at_fault({})  # a list that is not there says so here
    findings += yield from check_size(known)
    findings += yield from check_numbers(known)
    statuses = _statuses(reading)
    if statuses:
        findings += yield from check_statuses(known, statuses)
    page = yield from ask({**known.whole, **known.largest})
    if page is not None:
        if isinstance(endpoint.strategy, UpdatedWindows) and known.bounds != "none":
            findings += yield from check_edges(known, page.rows)
        findings += yield from _contents(known, page)
    yield from _keep(known, findings)
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
    page = yield from ask({**known.whole, **known.largest})
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


def _keep(known: Known, findings: Sequence[Finding]) -> Generator[Step, Any, None]:
    """What `sync` shall use from now on, with its evidence."""
    by_check = {finding.check: finding for finding in findings}
    if known.proven:
        evidence = f"proven by doctor: {', '.join(sorted(known.proven))}"
        yield Learnt("names", asdict(known.names), evidence)
    if known.page_base is not None:
        yield Learnt("page_base", known.page_base, by_check["page"].evidence)
    if known.page_size is not None and known.page_size < known.reading.endpoint.page_size:
        yield Learnt("page_size", known.page_size, by_check.get("page size", by_check["per_page"]).evidence)
    if isinstance(known.reading.endpoint.strategy, UpdatedWindows) and {"start", "end"} & by_check.keys():
        if by_check["start"].state == "ignored":
            yield Learnt("bounds", "none", by_check["start"].evidence)
        elif "bounds" in by_check and by_check["bounds"].state == "note":
            yield Learnt("bounds", known.bounds, by_check["bounds"].evidence)
    yield from (Learnt(f"seen_{name}", found, evidence) for name, found, evidence in _facts(findings))


def _facts(findings: Sequence[Finding]) -> Iterator[tuple[str, str, str]]:
    """What is kept to be looked up; `sync` does not rely on it."""
    for finding in findings:
        if finding.state == "note" or finding.check == "beyond the end":
            yield finding.check.replace(" ", "_"), finding.found, finding.evidence


def clients_in(rows: Sequence[Row]) -> list[str]:
    """The client ids that rows mention."""
    return list(dict.fromkeys(str(row["client_id"]) for row in rows if row.get("client_id") is not None))
