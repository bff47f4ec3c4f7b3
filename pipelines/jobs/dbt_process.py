"""dbt in a process of its own: its lock on the file ends with it, and its import costs nobody else a second.

The shipped project may lie in a read-only place, so everything that dbt writes goes to a folder beside the
warehouse.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipelines import bundled
from pipelines.core.errors import BuildFailed
from pipelines.loading.failures import busy_in
from pipelines.loading.layout import shards_of
from pipelines.loading.writer_lock import held_descriptors

Advance = Callable[[int, int], None]
"""Called with the nodes done and the nodes in all."""

COMMAND: tuple[str, ...] = (
    *(sys.executable, "-c"),
    "import gc; gc.set_threshold(50_000, 20, 100); from dbt.cli.main import cli; cli()",
)
"""Python looks for garbage after each 700 new objects, and dbt makes millions that stay."""
DATA_ONLY = ("--exclude-resource-type", "unit_test")
"""Unit tests bring rows of their own: they judge the models, not the warehouse, and belong to the test suite."""
PUBLISHED_ONLY = (*DATA_ONLY, "--exclude", "tag:nightly")
"""Of the tests those of what is published; the others are tagged in dbt_project.yml (decision 0408)."""
CHANGED_ONLY = (
    *(*PUBLISHED_ONLY, "config.materialized:view", "catalogue", "metrics"),
    *("--indirect-selection", "empty"),
)
"""Nor what another text or other variables alone would change. Tests of it are run; Dagster has assets of it."""
_FAILED = frozenset({"error", "fail", "runtime error"})
_ROWS = re.compile(r"Got (\d+) results?, configured to")
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What one `dbt build` did. `failures` and `warnings` are one line for each node."""

    succeeded: int
    skipped: int
    failures: tuple[str, ...]
    warnings: tuple[str, ...]
    seconds: float

    @property
    def exit_code(self) -> int:
        """Warnings do not count as a failure (design: commands)."""
        return 1 if self.failures else 0


@dataclass(slots=True)
class _Log:
    """What dbt said on its way, from its JSON log."""

    errors: list[str] = field(default_factory=list)
    deprecations: list[str] = field(default_factory=list)

    def take(self, event: dict[str, Any], advance: Advance) -> None:
        info, data = event.get("info", {}), event.get("data", {})
        name, level = info.get("name", ""), info.get("level")
        if name.endswith("Result") and "index" in data:
            advance(data["index"], data.get("total") or data.get("num_models") or data["index"])
        elif level == "error" and name == "MainEncounteredError":
            self.errors.append(one_line(info.get("msg", "").removeprefix("Encountered an error:")))
        elif level == "warn" and not name.startswith(("RunResult", "Log")):
            self.deprecations.append(one_line(info.get("msg", "")))


def state_folder(warehouse: Path) -> Path:
    """Where dbt keeps its target and its logs: `<warehouse>.dbt`, beside the warehouse."""
    return warehouse.with_name(f"{warehouse.name}.dbt")


def log_file(warehouse: Path) -> Path:
    """Return the file in which dbt logs warnings and errors."""
    return state_folder(warehouse) / "logs" / "dbt.log"


def dbt_build(
    warehouse: Path,
    *,
    full_refresh: bool,
    advance: Advance,
    variables: Mapping[str, Any] | None = None,
    command: Sequence[str] = (),
    extra: Sequence[str] = DATA_ONLY,
    limits: Mapping[str, str] | None = None,
) -> BuildResult:
    """Build and test every model over the warehouse, with definitions that are not the project's own.

    `command` starts dbt where `COMMAND` shall not, `extra` are more of its options, `limits` say how much
    memory DuckDB may take.

    Raises:
        BuildFailed: dbt did not come as far as running a node.
        WarehouseBusy: another process holds the file.
    """
    results = state_folder(warehouse) / "target" / "run_results.json"
    results.unlink(missing_ok=True)
    log = _Log()
    options = [*extra, *(["--full-refresh"] if full_refresh else []), *as_options(variables or {})]
    code = _run(warehouse, ["build", *options], log, advance, command, limits)
    for error in log.errors:
        if busy := busy_in(error, warehouse):
            raise busy
    if log.errors or not results.exists():
        why = log.errors[0] if log.errors else f"dbt ended with exit code {code}"
        # A full disk is told by its number alone; this is where dbt writes.
        raise BuildFailed(f"{state_folder(warehouse)}: {why}" if "Errno" in why else why)
    return _summary(json.loads(results.read_text("utf-8")), tuple(dict.fromkeys(log.deprecations)))


def failures_of(warehouse: Path) -> tuple[str, ...]:
    """Return a line for each node that failed in the last build; none if dbt did not come as far as a node."""
    results = state_folder(warehouse) / "target" / "run_results.json"
    return _summary(json.loads(results.read_text("utf-8")), ()).failures if results.exists() else ()


def dbt_parse(warehouse: Path, variables: Mapping[str, Any] | None = None) -> Path:
    """Write the manifest of the shipped project without touching the warehouse; returns its path.

    Raises:
        BuildFailed: the project does not parse.
    """
    log = _Log()
    code = _run(warehouse, ["parse", *as_options(variables or {})], log, lambda _done, _total: None)
    if code:
        raise BuildFailed(log.errors[0] if log.errors else f"dbt parse ended with exit code {code}")
    return state_folder(warehouse) / "target" / "manifest.json"


def as_variables(limits: Mapping[str, str]) -> dict[str, str]:
    """DuckDB's settings as the environment that the profile reads."""
    return {f"VETL_{name}".upper(): value for name, value in limits.items()}


def as_options(variables: Mapping[str, Any]) -> list[str]:
    """What dbt's command line takes for the project's variables; nothing where none is set."""
    return ["--vars", json.dumps(variables)] if variables else []


def fingerprint(variables: Mapping[str, Any]) -> str:
    """What dbt keeps of the text and the variables that the marts were made with (macro `build_fingerprint`)."""
    return f"{bundled.dbt_fingerprint()}{json.dumps(variables)}"


def environment(warehouse: Path) -> dict[str, str]:
    """The environment for dbt: of vetl's own variables only the file, so that no secret reaches it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("VETL_")}
    return {**kept, **known_to_dbt(warehouse), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}


def known_to_dbt(warehouse: Path) -> dict[str, str]:
    """What dbt is told by its environment: the file, its shards, and which text of the project makes the marts."""
    shards = [{"alias": name, "path": str(file)} for name, file in shards_of(warehouse).items()]
    return {
        "VETL_WAREHOUSE__PATH": str(warehouse),
        "VETL_SHARDS": json.dumps(shards),
        "VETL_BUILD_FINGERPRINT": bundled.dbt_fingerprint(),
    }


def without_values(message: str) -> str:
    """What dbt says of a node, in one line: a cast error quotes the row it failed on, so quotes are emptied."""
    return one_line(re.sub(r"'[^']*'", "'…'", message))


def _told(message: str) -> str:
    """Of a test that rows do not pass, how many they are, instead of dbt's own words."""
    match = _ROWS.match(message)
    return f"rows that do not pass: {match[1]}" if match else without_values(message)


def one_line(message: str) -> str:
    """A message of bounded length without line breaks."""
    text = " ".join(message.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _run(
    warehouse: Path,
    arguments: Sequence[str],
    log: _Log,
    advance: Advance,
    start: Sequence[str] = (),
    limits: Mapping[str, str] | None = None,
) -> int:
    state, project = state_folder(warehouse), bundled.dbt_project()
    state.mkdir(parents=True, exist_ok=True)
    command = [
        *(start or COMMAND),
        # Its log file would tell every statement, at a tenth of the time of a build in which little changed.
        *("--no-version-check", "--no-use-colors", "--log-format", "json", "--log-level-file", "warn"),
        *arguments,
        *("--project-dir", str(project), "--profiles-dir", str(project)),
        *("--target-path", str(state / "target"), "--log-path", str(state / "logs")),
    ]
    with subprocess.Popen(  # noqa: S603 - this interpreter, with arguments of our own
        command,
        cwd=state,
        env={**environment(warehouse), **as_variables(limits or {})},
        # If this process is killed, dbt goes on: the lock of the warehouse must not be free before dbt has ended.
        pass_fds=held_descriptors(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            for event in _events(process):
                log.take(event, advance)
            return process.wait()
        finally:
            process.kill()  # where we were interrupted; a dbt that has ended does not mind


def _events(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    for line in process.stdout or ():
        if line.startswith("{"):
            yield json.loads(line)


def _summary(run: dict[str, Any], deprecations: tuple[str, ...]) -> BuildResult:
    def lines(statuses: frozenset[str]) -> tuple[str, ...]:
        return tuple(
            f"{_name(node['unique_id'])}: {_told(node['message'] or node['status'])}"
            for node in run["results"]
            if node["status"] in statuses
        )

    statuses = [node["status"] for node in run["results"]]
    return BuildResult(
        succeeded=sum(status in {"success", "pass"} for status in statuses),
        skipped=statuses.count("skipped"),
        failures=lines(_FAILED),
        warnings=lines(frozenset({"warn"})) + deprecations,
        seconds=round(float(run["elapsed_time"]), 2),
    )


def _name(unique_id: str) -> str:
    """`model.vetl.appointments` -> `model appointments`; a test's hash says nothing."""
    kind, _, name, *_ = unique_id.split(".")
    return f"{kind} {name}"
