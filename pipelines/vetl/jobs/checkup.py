"""Examine every practice and list with one client, for `vetl doctor`, and correct `vetl.toml`.

Only wrong keys change; comments and order stay.
"""

import asyncio
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError

from vetl.core.endpoint import Endpoint
from vetl.core.errors import ConfigurationError, PracticeRefused, VetlError, cannot_write, unforeseen
from vetl.core.list_read import Practice, Progress, ReportProgress, Waiting
from vetl.core.pages import CallsPage, Changes
from vetl.core.steps import Learnt, Question, Save
from vetl.discovery import examination
from vetl.discovery.calls_and_people import TIMES
from vetl.discovery.examination import Examination, Examined, Report
from vetl.discovery.probes import Finding
from vetl.endpoints import PHONE_CALLS, REGISTRY, by_name
from vetl.engine.order import Order, Run
from vetl.engine.runner import StepRunner
from vetl.engine.source_clock import refuse_future_starts
from vetl.jobs.sync import chosen_endpoints, chosen_practices, partner_client
from vetl.partner.client import PartnerClient
from vetl.partner.lookups import gather
from vetl.partner.protocol import CsvAnswer
from vetl.publishing.statements import query
from vetl.settings import Settings, load_settings
from vetl.settings.core_sections import QueryName
from vetl.store.drafts import draft_for
from vetl.store.instants import differences, doubt
from vetl.store.phone_calls.csv_frames import parse_calls
from vetl.store.phone_calls.json_calls import read_values
from vetl.store.warehouse import Place, opened

_NAMES = {"time zone": "time_zone", TIMES: "times_without_offset"}
"""The keys of the checks that have another name; the check of a query parameter has its name."""


Key = tuple[str, ...]
"""A key of `vetl.toml`: its tables and its name. Of a practice it has the id in place of a table."""

Corrections = Mapping[Key, str]


def corrections_of(report: Report) -> Corrections:
    """Return the corrections that a report asks for.

    The names of parameters are the platform's, so the first practice with a correction decides for all.
    """
    found: dict[Key, str] = {}
    for practice_id, finding in report.contradictions:
        if finding.correction:
            found.setdefault(_key(practice_id, finding), finding.correction.value)
    return found


def _key(practice_id: str, finding: Finding) -> Key:
    match name := _NAMES.get(finding.check, finding.check):
        case "time_zone":
            return "practices", practice_id, name
        case "times_without_offset":
            return "partner", name
        case _:
            return "partner", "parameters", finding.endpoint, name


def corrected(settings: Settings, corrections: Corrections) -> Settings:
    """Return the settings with these corrections."""
    zones: dict[str, str] = {}
    partner: dict[str, Any] = {}
    names = {endpoint: dict(of_list) for endpoint, of_list in settings.partner.parameters.items()}
    for key, value in corrections.items():
        match key:
            case ("practices", practice_id, _):
                zones[practice_id] = value
            case ("partner", "parameters", endpoint, name):
                names.setdefault(endpoint, {})[cast("QueryName", name)] = value
            case _:
                partner[key[-1]] = value
    practices = tuple(replace(item, time_zone=zones.get(item.id, item.time_zone)) for item in settings.practices)
    partner["parameters"] = names
    return settings.model_copy(
        update={"practices": practices, "partner": settings.partner.model_copy(update=partner)}
    )


def proven(corrections: Corrections, report: Report) -> Corrections:
    """Return the corrections whose values the checks confirm."""
    wrong = {_key(*item) for item in report.contradictions}
    confirmed = {
        _key(examined.practice_id, finding)
        for examined in report.practices
        for finding in examined.findings
        if finding.state in ("ok", "note")
    }
    return {key: value for key, value in corrections.items() if key in confirmed - wrong}


def mend(config: Path, corrections: Corrections) -> None:
    """Correct the file in one rename."""
    try:
        document = tomlkit.parse(config.read_text("utf-8-sig"))
        for (*tables, name), value in corrections.items():
            if tables[0] == "practices":
                _practice(document, config, tables[1])[name] = value
            else:
                _table(document, tables)[name] = value
        _replace(config, tomlkit.dumps(document))
    except OSError as error:
        raise ConfigurationError(cannot_write(config, error, "cannot be corrected")) from None
    except TOMLKitError:
        raise ConfigurationError(f"{config}: cannot be corrected: it is not TOML") from None


def _practice(document: MutableMapping[str, Any], config: Path, practice_id: str) -> MutableMapping[str, Any]:
    for practice in document.get("practices", []):
        if practice.get("id") == practice_id:
            return practice
    raise ConfigurationError(
        f"{config}: practice {practice_id} is not in this file; set its time_zone in the file that has it"
    )


def _table(document: MutableMapping[str, Any], path: Sequence[str]) -> MutableMapping[str, Any]:
    table: MutableMapping[str, Any] = document
    for depth, name in enumerate(path):
        if name not in table:
            table[name] = tomlkit.table(is_super_table=depth < len(path) - 1)
        table = table[name]
    return table


def _replace(config: Path, text: str) -> None:
    """Replace the file in one rename; its permissions and its line ends stay."""
    line_end = b"\r\n" if b"\r\n" in config.read_bytes() else b"\n"
    target = config.resolve()
    with draft_for(target) as draft:
        draft.write_bytes(text.encode().replace(b"\n", line_end))
        draft.chmod(target.stat().st_mode)
        draft.replace(target)


ROUNDS = 3
"""Most corrections of one value. A first check has few calls; the checks after it have those that it asked for."""


class Notes:
    """The store of the checks: it keeps observations in memory and is empty at first.

    It takes the place of the warehouse, so that the checks need not wait for the warehouse.
    """

    def __init__(self) -> None:
        self.learnt: dict[tuple[str, str], list[Learnt]] = {}

    def prepared(self, practice_id: str, endpoint: Endpoint, saves: Sequence[Save]) -> list[Save]:  # noqa: ARG002 - as the warehouse takes it
        """Return the saves; nothing is written."""
        return list(saves)

    def commit_all(self, run_id: str, works: Sequence[tuple[str, Endpoint, Sequence[Save]]]) -> list[Changes]:  # noqa: ARG002 - as the warehouse takes it
        """Keep the observations about these lists."""
        for practice_id, endpoint, saves in works:
            of_list = self.learnt.setdefault((practice_id, endpoint.name), [])
            of_list.extend(item for item in saves if isinstance(item, Learnt))
        return [Changes()] * len(works)

    def answer_all(self, list_questions: Sequence[tuple[str, Endpoint, Question]]) -> list[Any]:
        """Raise an error, because no check has a question to the warehouse."""
        raise AssertionError(f"a check asks the warehouse: {list_questions}")

    def cursor(self, practice_id: str, endpoint_name: str) -> dict[str, Any] | None:  # noqa: ARG002 - as above
        """Return no cursor."""
        return None

    def capabilities(self, practice_id: str, endpoint_name: str) -> dict[str, Any]:  # noqa: ARG002 - as above
        """Return no capabilities."""
        return {}

    def counts(self, practices: Sequence[str], endpoint: Endpoint) -> dict[str, tuple[int, int]]:  # noqa: ARG002 - as above
        """Return no counts."""
        return {}


async def visit(run: Run, client: PartnerClient) -> Sequence[Examined]:
    """Examine every practice of the order; the failure of one list or practice is a finding of its own."""
    examined: list[Examined] = []
    practices = run.order.practices
    for number, practice in enumerate(practices, 1):
        run.progress(Waiting(f"examining practice {practice.id}, {number} of {len(practices)}"))
        examined.append(await _examine_practice(run, client, practice))
    return examined


async def _examine_practice(run: Run, client: PartnerClient, practice: Practice) -> Examined:
    findings: list[Finding] = []
    try:
        runner = StepRunner(run, practice, PHONE_CALLS)
        answers: Finding = await runner.drive(examination.check_practice())
        findings.append(answers)
        if answers.state == "ok":
            findings += await _examine_lists(run, practice)
    except VetlError as error:
        findings.append(_unanswered("", str(error)))
    return Examined(practice.id, (*findings, *_other_rules(practice)), client.traffic(practice.id).requests)


def _other_rules(practice: Practice) -> Iterator[Finding]:
    """Yield a finding if DuckDB has other rules in the practice's time zone."""
    for zone, spans in differences([practice.time_zone], practice.history_start).items():
        cause, _, remedy = doubt(zone, spans).partition("; ")
        yield Finding("", "zone rules", "note", f"{spans[0][0]:%Y-%m-%d}", cause, remedy)


async def _examine_lists(run: Run, practice: Practice) -> list[Finding]:
    """Examine lists concurrently; lists whose rows are got by reference come after those that mention them."""
    listed = [item for item in run.order.endpoints if item.strategy.has_list]
    referenced = [item for item in run.order.endpoints if not item.strategy.has_list]
    done = await gather(_examine_list(run, practice, endpoint, ()) for endpoint in listed)
    clients = [identity for one in done for identity in one.clients]
    done += await gather(_examine_list(run, practice, endpoint, clients) for endpoint in referenced)
    return [finding for one in done for finding in one.findings]


async def _examine_list(run: Run, practice: Practice, endpoint: Endpoint, clients: Sequence[str]) -> Examination:
    runner = StepRunner(run, practice, endpoint)
    try:
        examined: Examination = await runner.drive(examination.examine(await runner.reading(), clients))
    except PracticeRefused:
        raise
    except VetlError as error:
        examined = Examination([_unanswered(endpoint.name, str(error))])
    except Exception as error:  # noqa: BLE001 - the rows of one list must never stop the other lists
        examined = Examination([_unanswered(endpoint.name, unforeseen(error))])
    await runner.buffer.flush()
    return examined


def _unanswered(endpoint: str, cause: str) -> Finding:
    return Finding(endpoint, "list", "refused", "no answer", cause, "run `vetl doctor` again in a while")


def run_doctor(
    settings: Settings,
    *,
    practices: Sequence[str] | None,
    endpoints: Sequence[str] | None,
    config: Path | None,
    progress: ReportProgress,
) -> Report:
    """Examine the source, store the observations in the warehouse, and correct the file `config` if there is one.

    After a correction the checks run again, with the corrected values, before anything is written.
    """
    chosen = [practice.id for practice in chosen_practices(settings.practices, practices)]
    started = datetime.now(UTC)
    report, notes = _checked(settings, chosen, endpoints, progress)
    corrections: Corrections = {}
    for _ in range(ROUNDS if config else 0):
        new = corrections_of(report)
        if not new:
            break
        # A parameter's name is that of the platform, so it is checked again for all.
        again = [key[1] for key in new] if all(key[0] == "practices" for key in new) else chosen
        corrections = {**corrections, **new}
        after, learnt = _checked(corrected(settings, corrections), again, endpoints, progress)
        report, notes = _merged(report, after), notes | learnt
    _keep(settings.warehouse, settings.practices, notes, started, report)
    right = proven(corrections, report)
    if config is None or not right:
        return report
    mend(config, right)
    # The environment overrides the file.
    now = load_settings(config)
    overridden = [key for key, value in right.items() if corrected(now, {key: value}) != now]
    return replace(report, written=tuple(map(".".join, right)), overridden=tuple(map(".".join, overridden)))


def _checked(
    settings: Settings,
    practices: Sequence[str],
    endpoints: Sequence[str] | None,
    progress: ReportProgress,
) -> tuple[Report, dict[tuple[str, str], list[Learnt]]]:
    """Examine these practices once; return the report and the observations of each practice and list."""
    order = Order(
        practices=chosen_practices(settings.practices, practices),
        endpoints=chosen_endpoints(endpoints),
        names=settings.partner.query_names(REGISTRY),
        times_without_offset=settings.partner.times_without_offset,
    )
    notes = Notes()
    return asyncio.run(_examine(partner_client(settings), order, notes, progress)), notes.learnt


def _merged(before: Report, after: Report) -> Report:
    newer = {examined.practice_id: examined for examined in after.practices}
    return replace(
        after,
        practices=tuple(newer.get(examined.practice_id, examined) for examined in before.practices),
        requests=before.requests + after.requests,
        rate_limited=before.rate_limited + after.rate_limited,
    )


async def _examine(client: PartnerClient, order: Order, notes: Notes, progress: ReportProgress) -> Report:
    client.report_sign_in(progress)
    async with client:
        clock = await client.sign_in()
        refuse_future_starts(client, order.practices, clock)
        # No row is stored, so rows are no measure of progress; the lines name the practice.
        run = Run("doctor", order, client, notes, _as_rows, clock, partial(_waiting_only, progress))
        practices = await visit(run, client)
        return Report(run.clock, tuple(practices), client.total.requests, client.total.limited)


def _as_rows(answer: CsvAnswer, *, lenient: bool, days: tuple[date, date] | None) -> CallsPage:
    """Parse a page of the CSV, with its calls as dictionaries by raw column in `frame`."""
    page = parse_calls(answer, lenient=lenient, days=days)
    (values,) = read_values([page.frame])
    return replace(page, frame=values.frame.to_dicts())


def proposed_stages(settings: Settings) -> tuple[str, ...]:
    """Return the order of the booking stages that the read sessions show, or none if `[definitions]` has one."""
    if settings.definitions.booking_stages:
        return ()
    moves = query(settings.warehouse.path, examination.MOVES).rows
    return examination.order_of_stages({(here, there): times for here, there, times in moves})


def _waiting_only(progress: ReportProgress, report: Progress | Waiting) -> None:
    if isinstance(report, Waiting):
        progress(report)


def _keep(
    place: Place,
    practices: Sequence[Practice],
    notes: Mapping[tuple[str, str], Sequence[Learnt]],
    started: datetime,
    report: Report,
) -> None:
    """Store the observations in `control.capabilities` for the next sync, and the run in `control.runs`."""
    with opened(place) as warehouse, warehouse.run("doctor", practices, started) as run:
        for (practice_id, name), learnt in notes.items():
            if learnt:
                warehouse.commit(run.id, practice_id, by_name(name), learnt)
        run.source_clock, run.exit_code, run.summary = report.source_clock, report.exit_code, report.as_json()
