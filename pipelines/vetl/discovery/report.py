"""The findings of `vetl doctor`, and the corrections that they ask for."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from vetl.core.steps import Plan

State = Literal["ok", "contradicts", "ignored", "refused", "unknown", "note"]
"""ok: as configured; contradicts: the server differs from the configuration; ignored: the server has no working
form of this parameter; refused: the platform does not answer; unknown: too few rows to decide; note: for
information."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A value that `vetl.toml` should have: a query name of a list, or the time zone of the practice."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `found` is the answer in a word or two, `evidence` the observation behind it."""

    endpoint: str
    check: str
    state: State
    found: str
    evidence: str
    remedy: str = ""
    correction: Correction | None = None


Findings = Plan[list[Finding]]


@dataclass(frozen=True, slots=True)
class Examined:
    """All findings of one practice, and the number of HTTP requests that they took."""

    practice_id: str
    findings: tuple[Finding, ...]
    requests: int


@dataclass(frozen=True, slots=True)
class Report:
    """The result of `vetl doctor`.

    `written` are the keys of `vetl.toml` that were corrected: the checks found nothing wrong with the new values.
    `overridden` are the keys among them that an environment variable overrides, so that the correction has no
    effect.
    """

    source_clock: datetime
    practices: tuple[Examined, ...]
    requests: int
    rate_limited: int
    written: tuple[str, ...] = ()
    overridden: tuple[str, ...] = ()

    @property
    def contradictions(self) -> list[tuple[str, Finding]]:
        """Return the findings in which the source differs from the configuration, each with its practice."""
        return [
            (practice.practice_id, finding)
            for practice in self.practices
            for finding in practice.findings
            if finding.state in ("contradicts", "refused")
        ]

    @property
    def corrections(self) -> list[tuple[str, Finding]]:
        """Return the contradictions that have a correction."""
        return [(practice, finding) for practice, finding in self.contradictions if finding.correction]

    @property
    def exit_code(self) -> int:
        """Return 3 if the configuration contradicts the source, else 0."""
        return 3 if self.contradictions or self.overridden else 0

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return {
            "exit_code": self.exit_code,
            "source_clock": self.source_clock.isoformat(),
            "requests": self.requests,
            "rate_limited": self.rate_limited,
            "written": list(self.written),
            "overridden": list(self.overridden),
            "practices": [_without_empty(asdict(practice)) for practice in self.practices],
        }


def _without_empty(practice: Mapping[str, Any]) -> dict[str, Any]:
    findings = [
        {name: value for name, value in finding.items() if value not in ("", None)}
        for finding in practice["findings"]
    ]
    return {**practice, "findings": findings}
