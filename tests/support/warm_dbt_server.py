"""Serve dbt to all test processes of a run: each command is a process forked from one that has imported dbt.

Importing dbt takes seconds of CPU, and so does parsing vetl's project. A project is parsed here, once for each set
of variables, and the forked process begins with the manifest and the compiled templates in memory. A project with
a warning is parsed by the forked process itself, which then prints the warning.

`support.warm_dbt` starts the server, and removes its folder. The server ends with its standard input.
"""

import gc
import json
import os
import select
import shutil
import signal
import socket
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

PARSED = frozenset({"build", "compile", "freshness", "generate", "ls", "parse", "run", "test"})
"""Commands that begin by parsing the project."""
IMPORTED = ("dbt.cli.main", "dbt.task.build", "dbt.adapters.duckdb", "dbt_common.clients.agate_helper")
"""The modules that a build imports."""
READ_BY = ("--vars", "--target", "--profile", "--profiles-dir")
"""Options that the manifest depends on."""
WAREHOUSE = "VETL_WAREHOUSE__PATH"
UNSET = "DBT_DEFAULT_PLACEHOLDER"
"""dbt's note for a variable that is not set."""
SILENT = ("--no-version-check", "--log-level", "none", "--log-level-file", "none", "--no-partial-parse")
SINGLE = "--no-static-parser"
"""The static parser has threads; a forked process lacks them and would wait for ever."""


@dataclass(frozen=True, slots=True)
class Request:
    arguments: list[str]
    folder: str
    environment: dict[str, str]

    def option(self, name: str, otherwise: str = "") -> str:
        """Return an option's value; its environment variable replaces it."""
        given = dict(zip(self.arguments, self.arguments[1:], strict=False)).get(name)
        return given or self.environment.get(f"DBT_{name[2:].replace('-', '_').upper()}", otherwise)

    @property
    def project(self) -> Path:
        return Path(self.folder, self.option("--project-dir"))

    @property
    def target(self) -> Path:
        return self.project / self.option("--target-path", "target")

    @property
    def warehouse(self) -> str:
        """Return the file's name, from which dbt makes the name of the database."""
        return Path(self.environment.get(WAREHOUSE, "none")).name

    def enter(self, **other: str) -> None:
        """Change this process's folder and environment to those of the command."""
        os.chdir(self.folder)
        os.environ.clear()
        os.environ.update({**self.environment, **other})


@dataclass(frozen=True, slots=True)
class Parsed:
    """A manifest, if the project had no warning, and dbt's output folder."""

    manifest: Any
    folder: Path

    def fits(self, asked: Request) -> bool:
        """Return whether the variables of the environment that the text names are the same."""
        named: dict[str, str] = self.manifest.env_vars if self.manifest else {}
        return all(asked.environment.get(name, UNSET) == value for name, value in named.items())


class Projects:
    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._parsed: dict[tuple[str, ...], list[Parsed]] = {}

    def parsed(self, asked: Request) -> Parsed | None:
        """Return the manifest for a command; None if it needs none, or must parse by itself."""
        if PARSED.isdisjoint(asked.arguments) or not (asked.project / "dbt_project.yml").exists():
            return None
        before = self._parsed.setdefault(self._reading(asked), [])
        fitting = next((one for one in before if one.fits(asked)), None)
        if not fitting:
            before.append(fitting := self._parse(asked, Path(mkdtemp(dir=self._scratch))))
        return fitting if fitting.manifest else None

    @staticmethod
    def _reading(asked: Request) -> tuple[str, ...]:
        """Return the inputs of a manifest besides the variables of the environment."""
        text = (path for path in asked.project.rglob("*") if path.suffix in {".sql", ".yml", ".csv", ".md"})
        return (
            *(asked.option(name) for name in READ_BY),
            asked.warehouse,
            *sorted(f"{path} {path.stat().st_mtime_ns}" for path in text if asked.target not in path.parents),
        )

    @staticmethod
    def _parse(asked: Request, folder: Path) -> Parsed:
        from dbt.cli.main import dbtRunner  # noqa: PLC0415 - this import takes seconds, and many runs of tests need no dbt
        from dbt_common.clients.jinja import get_environment  # noqa: PLC0415 - as above

        warned: list[Any] = []
        options = [part for name in READ_BY if (value := asked.option(name)) for part in (name, value)]
        places = ["--project-dir", str(asked.project), "--target-path", str(folder), "--log-path", str(folder)]
        asked.enter(**{WAREHOUSE: str(folder / asked.warehouse)})
        runner = dbtRunner(callbacks=[lambda event: warned.append(event) if event.info.level == "warn" else None])
        done = runner.invoke([*SILENT, SINGLE, "parse", *options, *places])
        manifest: Any = done.result if done.success and not warned else None
        environment = get_environment()
        for macro in manifest.macros.values() if manifest else ():
            environment.compile(macro.macro_sql)  # a build uses macros that the parser does not
        return Parsed(manifest, folder)


@cache
def load_dbt() -> None:
    """Import dbt, and let it compile each template once: that takes a quarter of the CPU of a build."""
    for module in IMPORTED:
        import_module(module)
    from dbt_common.clients.jinja import MacroFuzzEnvironment  # noqa: PLC0415 - as above

    compile_template, compiled = MacroFuzzEnvironment.compile, dict[tuple[type, str], Any]()

    def compile_once(environment: Any, source: str) -> Any:
        key = type(environment), source
        if key not in compiled:
            compiled[key] = compile_template(environment, source)
        return compiled[key]

    MacroFuzzEnvironment.compile = compile_once  # pyright: ignore[reportAttributeAccessIssue] - dbt passes the source alone


def run_dbt(asked: Request, parsed: Parsed | None) -> None:
    """Run dbt's command line in this process, and exit with its code."""
    from vetl.jobs import dbt_child  # noqa: PLC0415 - as above

    sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115
    asked.enter()
    if parsed:
        asked.target.mkdir(parents=True, exist_ok=True)
        for file in parsed.folder.glob("*manifest.json"):
            shutil.copy(file, asked.target)
    _say_less()
    dbt_child.run(asked.arguments, parsed and parsed.manifest)


def _say_less() -> None:
    """Turn debug messages off: they take a fifth of a build, and nobody reads them."""
    from dbt_common.events.base_types import DebugLevel  # noqa: PLC0415 - as above
    from dbt_common.events.event_manager import EventManager  # noqa: PLC0415

    fire = EventManager.fire_event

    def make_nothing(self: Any, *_: Any, **_fields: Any) -> None:
        pass

    def fire_event(manager: Any, event: Any, level: Any = None, **more: Any) -> None:
        if (level or event.level_tag()).value != "debug":
            fire(manager, event, level, **more)

    DebugLevel.__init__ = make_nothing
    EventManager.fire_event = fire_event  # pyright: ignore[reportAttributeAccessIssue] - it needs private functions


def serve(client: socket.socket, asked: Request, outputs: list[int], parsed: Parsed | None) -> None:
    """Run a command in a process forked from this one, and send its exit code; kill it when the client is gone."""
    if child := os.fork():
        for number in outputs:
            os.close(number)

        def kill_with_client() -> None:
            client.recv(1)
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)

        threading.Thread(target=kill_with_client, daemon=True).start()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with suppress(BrokenPipeError):
            client.sendall(str(code).encode())
        os._exit(0)
    client.close()
    for place, number in enumerate(outputs, start=1):
        os.dup2(number, place)
        os.close(number)
    run_dbt(asked, parsed)


def received(client: socket.socket) -> tuple[Request, list[int]]:
    first, outputs, *_ = socket.recv_fds(client, 1 << 16, 2)
    text = bytearray(first)
    while not text.endswith(b"\n"):
        text += client.recv(1 << 16)
    return Request(*json.loads(text)), outputs


def main(address: str) -> None:
    gc.set_threshold(50_000, 20, 100)  # as vetl starts dbt
    projects = Projects(Path(address).parent)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        os.write(1, b"ready\n")
        while listening in select.select([listening, sys.stdin], [], [])[0]:
            client, _ = listening.accept()
            asked, outputs = received(client)
            load_dbt()
            parsed = projects.parsed(asked)
            gc.freeze()  # existing objects stay: a forked process need not search them for garbage
            if not os.fork():
                listening.close()
                serve(client, asked, outputs, parsed)
            client.close()
            for number in outputs:
                os.close(number)
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
    os._exit(0)  # an ordinary end prints DuckDB's leaks after the result of the tests


if __name__ == "__main__":
    main(sys.argv[1])
