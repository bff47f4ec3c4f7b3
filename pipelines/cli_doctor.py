"""`vetl doctor`: what the interface leaves open, found out and shown."""

from collections.abc import Sequence
from pathlib import Path

from pipelines.doctor.finding import Report
from pipelines.doctor.job import run_doctor
from pipelines.errors import ConfigurationError
from pipelines.settings import load_settings
from pipelines.settings_sources import DEFAULT_FILE, Sources
from pipelines.terminal import configure_logs, print_json, print_table, say
from pipelines.terminal_progress import showing_lists

WORDS = {"contradicts": "WRONG", "refused": "REFUSED", "ignored": "ignored", "unknown": "cannot tell"}


def doctor(
    practices: Sequence[str] | None,
    endpoints: Sequence[str] | None,
    *,
    write: bool,
    as_json: bool,
    verbosity: int,
) -> int:
    """`vetl doctor`."""
    configure_logs(verbosity)
    config = _file_to_mend() if write else None
    with showing_lists() as progress:
        report = run_doctor(
            load_settings(), practices=practices, endpoints=endpoints, config=config, progress=progress
        )
    if as_json:
        print_json(report.as_json())
    else:
        show(report)
    return report.exit_code


def _file_to_mend() -> Path:
    config = Sources.find(None).config
    if config is None:
        raise ConfigurationError(f"--write: there is no {DEFAULT_FILE} here to write to; `vetl init` makes one")
    return config


def show(report: Report) -> None:
    """A line for each check; below, one for each thing to be done."""
    print_table(
        "",
        ("practice", "list", "check", "state", "found", "evidence"),
        [
            (
                *(practice.practice_id, finding.endpoint, finding.check),
                *(WORDS.get(finding.state, finding.state), finding.found, finding.evidence),
            )
            for practice in report.practices
            for finding in practice.findings
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
        say(f"{key}: the environment overrides what is written, see {variable} and the like")
    limited = f", {report.rate_limited} met a rate limit" if report.rate_limited else ""
    say(f"{report.requests} requests, all of them reads{limited}")
    if report.exit_code and any(finding.correction for _, finding in report.contradictions):
        say("`vetl doctor --write` corrects vetl.toml")
