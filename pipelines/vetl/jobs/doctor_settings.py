"""Write the corrections of `vetl doctor` into `vetl.toml`: only wrong keys change, comments and order stay."""

from collections.abc import MutableMapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError

from vetl.core.errors import ConfigurationError, cannot_write
from vetl.discovery.examination import Report
from vetl.discovery.probes import Finding
from vetl.settings import QueryName, Settings
from vetl.store.drafts import draft_for

TIME_ZONE = "time_zone"
_NAMES = {"time zone": TIME_ZONE}
"""The keys of the checks that have another name; the check of a query parameter has its name."""


Corrections = Sequence[tuple[str, Finding]]
"""Findings with a correction, each with the practice in which it was found."""


def corrected(settings: Settings, corrections: Corrections) -> Settings:
    """Return the settings with these corrections."""
    zones: dict[str, str] = {}
    names = {endpoint: dict(of_list) for endpoint, of_list in settings.partner.parameters.items()}
    for practice_id, finding in _decided(corrections).values():
        correction = finding.correction
        assert correction is not None
        if correction.key == TIME_ZONE:
            zones[practice_id] = correction.value
        else:
            names.setdefault(finding.endpoint, {})[cast("QueryName", correction.key)] = correction.value
    practices = tuple(replace(item, time_zone=zones.get(item.id, item.time_zone)) for item in settings.practices)
    partner = settings.partner.model_copy(update={"parameters": names})
    return settings.model_copy(update={"practices": practices, "partner": partner})


def proven(corrections: Corrections, report: Report) -> Corrections:
    """Return the corrections whose values the checks confirm."""
    wrong = {_key_of(item) for item in report.contradictions}
    confirmed = {
        _key_of((examined.practice_id, finding))
        for examined in report.practices
        for finding in examined.findings
        if finding.state in ("ok", "note")
    }
    return [item for key, item in _decided(corrections).items() if key in confirmed - wrong]


def mend(config: Path, corrections: Corrections) -> tuple[str, ...]:
    """Correct the file in one rename, and return the changed keys."""
    if not corrections:
        return ()
    try:
        document = tomlkit.parse(config.read_text("utf-8-sig"))
        for practice_id, finding in _decided(corrections).values():
            _correct(document, config, practice_id, finding)
        _replace(config, tomlkit.dumps(document))
    except OSError as error:
        raise ConfigurationError(cannot_write(config, error, "cannot be corrected")) from None
    except TOMLKitError:
        raise ConfigurationError(f"{config}: cannot be corrected: it is not TOML") from None
    return tuple(_decided(corrections))


def overridden(settings: Settings, corrections: Corrections) -> tuple[str, ...]:
    """Return corrected keys that have another value all the same, because the environment overrides the file."""
    zones = {practice.id: practice.time_zone for practice in settings.practices}
    keys: list[str] = []
    for key, (practice_id, finding) in _decided(corrections).items():
        correction = finding.correction
        assert correction is not None
        named = {str(name): value for name, value in settings.partner.parameters.get(finding.endpoint, {}).items()}
        now = zones.get(practice_id) if correction.key == TIME_ZONE else named.get(correction.key)
        if now != correction.value:
            keys.append(key)
    return tuple(keys)


def _decided(corrections: Corrections) -> dict[str, tuple[str, Finding]]:
    """Return the corrections by key, of each key the first one.

    The names of parameters are the platform's, so the first practice with a correction decides for all.
    """
    decided: dict[str, tuple[str, Finding]] = {}
    for item in corrections:
        decided.setdefault(_key_of(item), item)
    return decided


def _key_of(item: tuple[str, Finding]) -> str:
    practice_id, finding = item
    name = finding.correction.key if finding.correction else _NAMES.get(finding.check, finding.check)
    return _key(practice_id, finding.endpoint, name)


def _key(practice_id: str, endpoint: str, name: str) -> str:
    return f"practices.{practice_id}.{name}" if name == TIME_ZONE else f"partner.parameters.{endpoint}.{name}"


def _correct(document: MutableMapping[str, Any], config: Path, practice_id: str, finding: Finding) -> None:
    correction = finding.correction
    assert correction is not None
    if correction.key == TIME_ZONE:
        _practice(document, config, practice_id)[TIME_ZONE] = correction.value
    else:
        _table(document, "partner", "parameters", finding.endpoint)[correction.key] = correction.value


def _practice(document: MutableMapping[str, Any], config: Path, practice_id: str) -> MutableMapping[str, Any]:
    for practice in document.get("practices", []):
        if practice.get("id") == practice_id:
            return practice
    raise ConfigurationError(
        f"{config}: practice {practice_id} is not in this file; set its time_zone in the file that has it"
    )


def _table(document: MutableMapping[str, Any], *path: str) -> MutableMapping[str, Any]:
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
