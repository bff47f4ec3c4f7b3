"""`vetl doctor`: compare the settings with the platform, and show the findings."""

import json
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from vetl.cli import terminal
from vetl.cli.commands import AsJson, Commands, Lists, Practices
from vetl.cli.progress import showing_lists
from vetl.cli.terminal import TableColumn, count, say, this_command
from vetl.core.errors import ConfigurationError
from vetl.discovery.examination import Report
from vetl.discovery.probes import State
from vetl.jobs.build import published_clear
from vetl.jobs.checkup import proposed_stages, run_doctor
from vetl.settings import load_settings
from vetl.settings.section import exposed
from vetl.settings.sources import DEFAULT_FILE, Sources

WORDS = {
    "contradicts": "WRONG",
    "refused": "REFUSED",
    "ignored": "ignored",
    "unknown": "cannot tell",
    "note": "note",
}
IN_ORDER: tuple[State, ...] = ("contradicts", "refused", "ignored", "unknown", "note", "ok")


app = Commands()


@app.command(
    examples="""
        vetl doctor
        vetl doctor --write
        vetl doctor --practice loc-001 --endpoint phone_calls --all"""
)
def doctor(
    practice: Practices = None,
    endpoint: Lists = None,
    write: Annotated[bool, typer.Option("--write", help="Correct vetl.toml; comments and order stay.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Also show the checks that passed.")] = False,
    as_json: AsJson = False,
) -> int:
    """Compare the settings with the platform; --write corrects them."""
    config = _file_to_mend() if write else None
    settings = load_settings()
    clear = published_clear(settings.warehouse.published, settings.privacy)
    with showing_lists() as progress:
        report = run_doctor(settings, practices=practice, endpoints=endpoint, config=config, progress=progress)
    warnings = [*exposed(settings), *settings.warehouse.weak_key(), *clear]
    stages = proposed_stages(settings)
    if as_json:
        terminal.print_json({**report.as_json(), "exposed": warnings, "booking_stages": stages})
    else:
        show(report, everything=everything)
        if stages:
            say("sessions pass the stages of online booking in this order; add it to [definitions] in vetl.toml:")
            terminal.print_line(f"booking_stages = {json.dumps(stages)}")
        for warning in warnings:
            say(f"warning: {warning}")
    return report.exit_code


def _file_to_mend() -> Path:
    config = Sources.find(None).config
    if config is None:
        raise ConfigurationError(f"--write: there is no {DEFAULT_FILE} here to write to; `vetl init` creates it")
    return config


FINE = frozenset(("ok", "note"))


def show(report: Report, *, everything: bool = False) -> None:
    """Print the totals, the findings with a problem (or `everything`), and the remedies."""
    findings = [(practice, finding) for practice in report.practices for finding in practice.findings]
    terminal.print_table(
        summary(report),
        (
            "practice",
            "list",
            "check",
            "state",
            TableColumn("found", 1, min_width=18),
            TableColumn("evidence", 2, min_width=30),
        ),
        [
            (
                practice.practice_id,
                finding.endpoint,
                finding.check,
                WORDS.get(finding.state, finding.state),
                finding.found,
                finding.evidence,
            )
            for practice, finding in findings
            if everything or finding.state not in FINE
        ],
    )
    for practice in report.practices:
        for finding in practice.findings:
            if finding.remedy:
                where = " ".join(filter(None, (practice.practice_id, finding.endpoint, finding.check)))
                say(f"{where}: {finding.evidence}; {finding.remedy}")
    for key in report.written:
        say(f"written: {key}")
    for key in report.overridden:
        variable = f"VETL_{key.upper().replace('.', '__')}"
        say(f"{key}: an environment variable overrides vetl.toml; see {variable} and variables that begin with it")
    if report.exit_code and any(finding.correction for _, finding in report.contradictions):
        say("`vetl doctor --write` corrects vetl.toml")
    hidden = sum(finding.state in FINE for _, finding in findings)
    if hidden == len(findings):
        terminal.print_line(f"All {count(hidden, 'check')} passed. Next: {this_command()} run")
    elif not everything:
        terminal.print_aside(f"{count(hidden, 'check')} passed; --all shows them")


def _counted(findings: int, state: State) -> str:
    return count(findings, "note") if state == "note" else f"{findings} {WORDS.get(state, state)}"


def summary(report: Report) -> str:
    """Return `2 practices, 84 checks: 1 WRONG, 3 ignored, 80 ok; 512 requests, none of them writes`."""
    states = Counter(finding.state for practice in report.practices for finding in practice.findings)
    by_state = ", ".join(_counted(states[state], state) for state in IN_ORDER if states[state])
    checked = f"{count(len(report.practices), 'practice')}, {count(states.total(), 'check')}: {by_state}"
    limited = f", {report.rate_limited} of them met a rate limit" if report.rate_limited else ""
    return f"{checked}; {count(report.requests, 'request')}, none of them writes{limited}"
