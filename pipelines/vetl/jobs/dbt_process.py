"""Run dbt in a process of its own, so that its lock on the file ends with it and vetl does not import it.

The shipped project may be in a read-only place, so dbt writes all its files to a folder beside the warehouse. The
import of dbt would cost a second.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vetl import bundled
from vetl.core.errors import BuildFailed, WarehouseError, WrongUse
from vetl.publishing.statements import query
from vetl.store.connection import busy_in, memory_for_marts, remedy_in, wait_until_free
from vetl.store.writer_lock import held_descriptors

Advance = Callable[[int, int], object]
"""Called with the number of finished nodes and the number of all nodes."""

COMMAND: tuple[str, ...] = (sys.executable, "-P", "-m", "vetl.jobs.dbt_child")
DATA_ONLY = ("--exclude-resource-type", "unit_test")
"""Unit tests have rows of their own: they test the models and not the data, so they belong to the test suite."""
PUBLISHED_ONLY = (*DATA_ONLY, "--exclude", "tag:nightly")
"""Only the tests of published models; other tests have a tag in dbt_project.yml (decision 18)."""
TABLES_ONLY = ("config.materialized:view", "catalogue", "metrics", "--indirect-selection", "empty")
"""Without views, `catalogue` and `metrics`, which only change with the project or its variables."""
_FAILED = frozenset({"error", "fail", "runtime error"})
_ROWS = re.compile(r"Got (\d+) results?, configured to")
_OTHER_COLUMN = re.compile(r"^ *\| (?!column_name|-)(.+?) *\| (.*?) *\| (.*?) *\| (.+?) *\|$", re.MULTILINE)
"""A row of dbt's table of columns that differ from a contract: name, type in the model, in the contract, why."""
_MESSAGE_LENGTH = 300


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The result of one `dbt build`; `failures` and `warnings` have one line for each node.

    `because` says which models were made, and why.
    """

    succeeded: int
    skipped: int
    failures: tuple[str, ...]
    warnings: tuple[str, ...]
    seconds: float
    because: str = ""

    @property
    def exit_code(self) -> int:
        """Return 1 if a node failed; warnings are no failures (docs/exit-codes.md)."""
        return 1 if self.failures else 0


@dataclass(frozen=True, slots=True)
class NodeDone:
    """A node that dbt has finished, the number of finished and of all nodes, and dbt's event about it."""

    done: int
    total: int
    event: dict[str, Any]


Nodes = Generator[NodeDone, None, "BuildResult"]
"""A build that runs: its nodes as they are done, and its result."""


@dataclass(slots=True)
class _Log:
    """The exit code of dbt, and the errors and deprecations in its JSON log."""

    exit_code: int = 0
    errors: list[str] = field(default_factory=list)
    deprecations: list[str] = field(default_factory=list)

    def take(self, event: dict[str, Any]) -> Generator[NodeDone]:
        info, data = event.get("info", {}), event.get("data", {})
        name, level = info.get("name", ""), info.get("level")
        if name.endswith("Result") and "index" in data:
            yield NodeDone(data["index"], data.get("total") or data.get("num_models") or data["index"], event)
        elif level == "error" and name == "MainEncounteredError":
            self.errors.append(one_line(info.get("msg", "").removeprefix("Encountered an error:")))
        elif level == "warn" and not name.startswith(("RunResult", "Log")):
            self.deprecations.append(one_line(info.get("msg", "")))


def state_folder(warehouse: Path) -> Path:
    """Return the folder of dbt's target and logs: `<warehouse>.dbt`, beside the warehouse."""
    return warehouse.with_name(f"{warehouse.name}.dbt")


def log_file(warehouse: Path) -> Path:
    """Return the file with the warnings and errors of the last build."""
    return state_folder(warehouse) / "logs" / "dbt.log"


def dbt_build(warehouse: Path, *, advance: Advance, **how: Any) -> BuildResult:  # noqa: ANN401 - as `dbt_nodes`
    """Run `dbt_nodes` to its end, and return the result."""
    return last_of(dbt_nodes(warehouse, **how), advance)


def last_of(nodes: Nodes, advance: Advance = lambda _done, _total: None) -> BuildResult:
    """Run a build to its end, and return its result."""
    while True:
        try:
            node = next(nodes)
        except StopIteration as end:
            return end.value
        advance(node.done, node.total)


def dbt_nodes(
    warehouse: Path,
    *,
    variables: Mapping[str, Any] | None = None,
    command: Sequence[str] = (),
    extra: Sequence[str] = DATA_ONLY,
    limits: Mapping[str, str] | None = None,
    lock_wait_seconds: float = 0.0,
) -> Nodes:
    """Build and test every model over the warehouse; `variables` override those of the project.

    `command` starts dbt instead of `COMMAND`, `extra` are further options of dbt, and `limits` are DuckDB's limits
    of memory. If another program, such as DuckDB's shell, has the file open as dbt starts, wait for it.
    """
    results = state_folder(warehouse) / "target" / "run_results.json"
    results.unlink(missing_ok=True)
    deadline = time.monotonic() + lock_wait_seconds
    while True:
        log = _Log()
        yield from _run(warehouse, ["build", *extra, *as_options(variables or {})], log, command, limits)
        busy = next(filter(None, (busy_in(error, warehouse) for error in log.errors)), None)
        if not busy:
            break
        left = deadline - time.monotonic()
        if left <= 0:
            raise busy
        wait_until_free(warehouse, left)
    try:
        run = json.loads(results.read_text("utf-8"))
    except (FileNotFoundError, ValueError):  # a full disk cuts it off
        run = None
    if log.errors or run is None:
        why = log.errors[0] if log.errors else f"dbt ended with exit code {log.exit_code}"
        # The error of a full disk is a number alone, so the line names the folder that dbt writes.
        why = f"{state_folder(warehouse)}: {why}" if "Errno" in why else why
        raise BuildFailed(f"{why}{remedy_in(why)}")
    return _summary(warehouse, run, tuple(dict.fromkeys(log.deprecations)))


def options_of(
    changed: Collection[str] | None, *, is_full: bool, all_tests: bool, select: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return dbt's options: all models and tests if requested or if the build before failed.

    So a build with fewer tests never publishes marts that the build before refused (decision 18). Otherwise
    those models are made that hang on the `changed` sources, `None` for all.
    """
    if select:
        return (*DATA_ONLY, "--indirect-selection", "empty", "--select", *select)
    if all_tests or changed is None:
        return (*DATA_ONLY, *(["--full-refresh"] if is_full else []))
    staging = bundled.dbt_project() / "models" / "staging"
    sources = [
        f"source:{schema}.{table}+"
        for schema, table in (name.split(".") for name in sorted(changed))
        if (staging / schema / f"stg_{schema}__{table}.sql").exists()
    ]
    return (*PUBLISHED_ONLY, *TABLES_ONLY, "--select", *sources)


def dbt_parse(warehouse: Path, variables: Mapping[str, Any] | None = None) -> Path:
    """Write the manifest of the shipped project without the warehouse; return its path."""
    log = _Log()
    list(_run(warehouse, ["parse", *as_options(variables or {})], log))
    if log.exit_code:
        raise BuildFailed(log.errors[0] if log.errors else f"dbt parse ended with exit code {log.exit_code}")
    return state_folder(warehouse) / "target" / "manifest.json"


def as_options(variables: Mapping[str, Any]) -> list[str]:
    """Return the options of dbt's command line for variables, or none if there are no variables."""
    return ["--vars", json.dumps(variables)] if variables else []


def fingerprint(warehouse: Path, variables: Mapping[str, Any]) -> str:
    """Return what marts are made with: the project's text, its variables, and the name of the file in views."""
    return f"{bundled.dbt_fingerprint()} {warehouse.name} {json.dumps(variables)}"


def environment(warehouse: Path) -> dict[str, str]:
    """Return the environment for dbt: vetl's variables for dbt, and the others of this process that are not dbt's.

    Variables of dbt in the shell, which may be for another project, would change a build: with `DBT_EMPTY=1` every
    table is empty. Other variables of vetl contain secrets.
    """
    others = {name: value for name, value in os.environ.items() if not name.startswith(("VETL_", "DBT_"))}
    return {**others, "VETL_WAREHOUSE__PATH": str(warehouse), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}


def without_values(message: str) -> str:
    """Return dbt's message about a node in one line, without quoted values, which may come from a row."""
    return one_line(re.sub(r"'[^']*'", "'…'", message))


def _result_line(warehouse: Path, node: Mapping[str, Any]) -> str:
    """Return the broken rules of a test, the number of its rows, columns against a contract, or dbt's message."""
    message = node["message"] or node["status"]
    if others := _OTHER_COLUMN.findall(message):
        columns = ", ".join(f"{name} ({why}: {' and '.join(filter(None, types))})" for name, *types, why in others)
        return f"columns that differ from the contract in its .yml: {columns}"
    match = _ROWS.match(message)
    if not match:
        return without_values(message)
    return ", ".join(_broken_rules(warehouse, node)) or f"rows that do not pass: {match[1]}"


def _broken_rules(warehouse: Path, node: Mapping[str, Any]) -> list[str]:
    """Return `rule (cases)` for each broken rule of a test `holds`; it is asked again, since dbt keeps no rows."""
    try:
        found = query(warehouse, node.get("compiled_code") or "")
    except (WarehouseError, WrongUse):  # another program holds the file by now
        return []
    return [f"{rule} ({cases})" for rule, cases in found.rows] if found.columns == ("rule", "cases") else []


def one_line(message: str) -> str:
    """Return a message of bounded length without line breaks."""
    text = " ".join(message.split())
    return text if len(text) <= _MESSAGE_LENGTH else f"{text[:_MESSAGE_LENGTH]}…"


def _run(
    warehouse: Path,
    arguments: Sequence[str],
    log: _Log,
    start: Sequence[str] = (),
    limits: Mapping[str, str] | None = None,
) -> Generator[NodeDone]:
    state, project = state_folder(warehouse), str(bundled.dbt_project())
    state.mkdir(parents=True, exist_ok=True)
    flags = ["--no-version-check", "--no-use-colors"]
    flags += ["--log-format", "json", "--log-level-file", "none"] if start else []
    places = ["--project-dir", project, "--profiles-dir", project]
    places += ["--target-path", str(state / "target"), "--log-path", str(state / "logs")]
    limits = {"memory_limit": memory_for_marts(), **(limits or {})}
    profile = {f"VETL_{name}".upper(): value for name, value in limits.items()}
    told: list[str] = []
    with subprocess.Popen(  # noqa: S603 - this interpreter, with arguments of our own
        [*(start or (*COMMAND, "--events")), *flags, *arguments, *places],
        cwd=state,
        env={**environment(warehouse), **profile},
        # If this process is killed, dbt continues, so the lock of the warehouse must stay until dbt has ended.
        pass_fds=held_descriptors(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            for line in process.stdout or ():
                if line.startswith("{"):
                    event = json.loads(line)
                    if event["info"]["level"] in {"warn", "error"}:
                        told.append(f"{event['info']['msg']}\n")
                    yield from log.take(event)
            log.exit_code = process.wait()
        finally:
            process.kill()  # if vetl was interrupted; it has no effect on a process that has ended
    with suppress(OSError):  # of a full disk, which the result of the build names
        log_file(warehouse).parent.mkdir(parents=True, exist_ok=True)
        log_file(warehouse).write_text("".join(told), "utf-8")


def _summary(warehouse: Path, run: dict[str, Any], deprecations: tuple[str, ...]) -> BuildResult:
    def lines(statuses: frozenset[str]) -> tuple[str, ...]:
        return tuple(
            f"{_name(node['unique_id'])}: {_result_line(warehouse, node)}"
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
    """Return `model appointments` for `model.vetl.appointments`, without the hash of a test."""
    kind, _, name, *_ = unique_id.split(".")
    return f"{kind} {name}"
