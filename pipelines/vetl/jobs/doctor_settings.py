"""Write the corrections of `vetl doctor` into `vetl.toml`: only wrong keys change, comments and order stay."""

from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from vetl.core.errors import ConfigurationError, cannot_write
from vetl.discovery.report import Finding, Report
from vetl.drafts import draft_for
from vetl.settings import Settings

TIME_ZONE = "time_zone"


def mend(config: Path, report: Report) -> tuple[str, ...]:
    """Correct the file in one rename, and return the changed keys.

    Raises:
        ConfigurationError: the file cannot be read or written, or does not contain the practice.
    """
    corrections = [(practice, finding) for practice, finding in report.contradictions if finding.correction]
    if not corrections:
        return ()
    try:
        document = tomlkit.parse(config.read_text("utf-8-sig"))
        written = tuple(dict.fromkeys(_corrected(document, config, corrections)))
        _replace(config, tomlkit.dumps(document))
    except OSError as error:
        raise ConfigurationError(cannot_write(config, error, "cannot be corrected")) from None
    except TOMLKitError:
        raise ConfigurationError(f"{config}: cannot be corrected: it is not TOML") from None
    return written


def overridden(settings: Settings, report: Report) -> tuple[str, ...]:
    """Return corrected keys that have another value all the same, because the environment overrides the file."""
    zones = {practice.id: practice.time_zone for practice in settings.practices}
    wrong: dict[str, bool] = {}
    for practice_id, finding in report.contradictions:
        correction = finding.correction
        if correction is None:
            continue
        key = _key(practice_id, finding.endpoint, correction.key)
        named = {str(name): value for name, value in settings.partner.parameters.get(finding.endpoint, {}).items()}
        now = zones.get(practice_id) if correction.key == TIME_ZONE else named.get(correction.key)
        wrong.setdefault(key, now != correction.value)
    return tuple(key for key, is_wrong in wrong.items() if is_wrong)


def _key(practice_id: str, endpoint: str, name: str) -> str:
    return f"practices.{practice_id}.{name}" if name == TIME_ZONE else f"partner.parameters.{endpoint}.{name}"


def _corrected(
    document: MutableMapping[str, Any], config: Path, corrections: list[tuple[str, Finding]]
) -> Iterator[str]:
    """Change the document, and yield the changed keys."""
    # The names of parameters are the platform's, so the first practice with a correction decides for all.
    names: dict[tuple[str, str], str] = {}
    for practice_id, finding in corrections:
        correction = finding.correction
        assert correction is not None
        if correction.key == TIME_ZONE:
            _practice(document, config, practice_id)[TIME_ZONE] = correction.value
            yield _key(practice_id, finding.endpoint, TIME_ZONE)
            continue
        key = finding.endpoint, correction.key
        if names.setdefault(key, correction.value) == correction.value:
            _table(document, "partner", "parameters", finding.endpoint)[correction.key] = correction.value
            yield _key(practice_id, finding.endpoint, correction.key)


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
