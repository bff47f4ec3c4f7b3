"""`vetl query` in a real terminal: a table that fits, first rows at once, a count, one Ctrl-C, a prompt."""

import fcntl
import os
import pty
import re
import resource
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Self

import duckdb
import pytest

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 100
CTRL_C, CTRL_D = b"\x03", b"\x04"
GIGABYTE = 1 << 30


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("terminal")
    with duckdb.connect(str(folder / "analytics.duckdb")) as connection:
        columns = ", ".join(f"range as column_{number}" for number in range(200))
        connection.execute(f"""
            create schema marts;
            create table marts.phone_calls as
                select range as call_id, 'a summary of many words ' || repeat('word ', 30) as summary
                from range(44008);
            create table marts.wide as select {columns} from range(3);
            create view marts.many as select range as id, hash(range) as other from range(200_000_000);
        """)
    return folder


class Terminal:
    """A terminal of 100 columns with a running command."""

    def __init__(self, folder: Path, *arguments: str, memory: int | None = None) -> None:
        self._screen, tty = pty.openpty()
        fcntl.ioctl(tty, termios.TIOCSWINSZ, struct.pack("HHHH", 40, WIDTH, 0, 0))

        def prepare() -> None:
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores Ctrl-C
            if memory:
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

        inherited = {name: value for name, value in os.environ.items() if not name.startswith("VETL_")}
        environment = {name: value for name, value in inherited.items() if name not in {"COLUMNS", "LINES"}}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pipelines", "query", *arguments],
            cwd=folder,
            env={
                **environment,
                "PYTHONPATH": str(ROOT),
                "VETL_WAREHOUSE__PUBLISHED": str(folder / "analytics.duckdb"),
                "XDG_STATE_HOME": str(folder / "state"),
                "TERM": "xterm",
            },
            stdin=tty,
            stdout=tty,
            stderr=tty,
            preexec_fn=prepare,  # noqa: PLW1509 - this process has no thread of its own
        )
        os.close(tty)
        self.shown = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._screen)

    def types(self, typed: bytes) -> None:
        os.write(self._screen, typed)

    def shows(self, expected: str, seconds: float = 60) -> str:
        """Return the output up to these words, and remove it."""
        until = time.monotonic() + seconds
        while expected not in self.shown:
            ready, _, _ = select.select([self._screen], [], [], max(0, until - time.monotonic()))
            assert ready, f"{expected!r} is not shown, but {self.shown[-2000:]!r}"
            try:
                self.shown += os.read(self._screen, 65536).decode(errors="replace").replace("\r", "")
            except OSError:
                pytest.fail(f"ended without {expected!r}: {self.shown[-2000:]!r}")
        before, words, self.shown = self.shown.partition(expected)
        return before + words

    def ends(self, seconds: float = 60) -> int:
        """Return the exit code after the command has printed the rest."""
        until = time.monotonic() + seconds
        while True:
            ready, _, _ = select.select([self._screen], [], [], max(0, until - time.monotonic()))
            assert ready, f"has not ended, but shows {self.shown[-2000:]!r}"
            try:
                self.shown += os.read(self._screen, 65536).decode(errors="replace").replace("\r", "")
            except OSError:
                return self._process.wait(60)


def lines_of(shown: str) -> list[str]:
    """Return the output without colours and without the spinner, which the terminal has erased."""
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown).splitlines()
    return [line for line in plain if "Ctrl-C ends it" not in line]


def test_a_long_table_shows_forty_rows_that_fit_and_a_count(folder: Path) -> None:
    with Terminal(folder, "from phone_calls") as terminal:
        assert terminal.ends() == 0

    lines = lines_of(terminal.shown)
    assert lines[-1] == "44,008 rows (40 shown; --format csv writes all)"
    assert len(lines) == 4 + 40 + 1 + 1
    assert {len(line) for line in lines[:-1]} <= {WIDTH, WIDTH - 1}
    assert "a summary of many words word" in lines[4], "a cell is cut where the line ends, not before"
    assert lines[4].rstrip(" │").endswith("…")


def test_of_two_hundred_columns_the_first_and_last_are_shown(folder: Path) -> None:
    with Terminal(folder, "from wide") as terminal:
        assert terminal.ends() == 0

    lines = lines_of(terminal.shown)
    assert "column_0 " in lines[1]
    assert "column_199" in lines[1]
    assert re.fullmatch(r"3 rows, 200 columns \(\d+ shown\)", lines[-1])
    assert max(len(line) for line in lines) <= WIDTH


def test_two_hundred_million_rows_take_bounded_memory(folder: Path) -> None:
    with Terminal(folder, "from many", memory=4 * GIGABYTE) as terminal:
        assert terminal.ends() == 0

    assert lines_of(terminal.shown)[-1].startswith("200,000,000 rows (40 shown")


def test_rows_come_first_and_one_ctrl_c_ends_the_counting(folder: Path) -> None:
    endless = "select a.range, b.range from range(10_000_000) a, range(10_000_000) b where a.range + b.range >= 0"
    with Terminal(folder, endless) as terminal:
        assert len(lines_of(terminal.shows("┘"))) == 4 + 40 + 1
        terminal.shows("counting the rows, Ctrl-C ends it")
        began = time.monotonic()
        terminal.types(CTRL_C)
        assert terminal.ends() == 130

    assert time.monotonic() - began < 10
    assert "vetl: interrupted" in terminal.shown


def test_a_spinner_turns_while_a_statement_runs_and_one_ctrl_c_ends_it(folder: Path) -> None:
    endless = "select sum(a.range * b.range) from range(10_000_000) a, range(10_000_000) b"
    with Terminal(folder, endless) as terminal:
        terminal.shows("running, Ctrl-C ends it")
        terminal.types(CTRL_C)
        assert terminal.ends() == 130


def test_the_prompt_continues_after_mistakes_and_ctrl_c_and_keeps_its_history(folder: Path) -> None:
    with Terminal(folder) as terminal:
        terminal.shows("vetl> ")
        terminal.types(b"select count(*) as calls\n")
        terminal.shows("   ... ")
        terminal.types(b"from phone_calls;\n")
        assert "44008" in terminal.shows("vetl> ")
        terminal.types(b"from phone_cals;\n")
        terminal.shows("did you mean phone_calls?")
        terminal.types(b"select sum(a.range * b.range) from range(10_000_000) a, range(10_000_000) b;\n")
        terminal.shows("running, Ctrl-C ends it")
        terminal.types(CTRL_C)
        terminal.shows("stopped")
        terminal.shows("vetl> ")
        terminal.types(b".columns phone_cals\n")
        terminal.shows(".columns phone_cals: there is no such mart; did you mean phone_calls?")
        terminal.types(b".frob\n")
        assert "statement ends with" not in terminal.shows(".frob: there is no such command")
        terminal.shows("vetl> ")
        terminal.types(b".vertical\n")
        terminal.shows("one line for each column")
        terminal.types(b"from phone_calls limit 1;\n")
        assert re.search(r"  call_id  0\n  summary  a summary of many words", terminal.shows("1 row"))
        terminal.shows("vetl> ")
        terminal.types(b".question message-del\n")
        terminal.shows("did you mean message-delivery?")
        terminal.shows("vetl> ")
        terminal.types(b"select max(phone_c\t\x15.quit\n")
        terminal.shows("phone_calls")
        assert terminal.ends() == 0

    with Terminal(folder) as terminal:
        terminal.shows("vetl> ")
        terminal.types(b"\x1b[A\x1b[A")
        terminal.shows("estion message-del")  # beyond .quit, which begins with the same letter
        terminal.types(b"\x15" + CTRL_D)
        assert terminal.ends() == 0
    for leaving in (b"exit\n", b"quit;\n"):
        with Terminal(folder) as terminal:
            terminal.shows("vetl> ")
            terminal.types(leaving)
            assert terminal.ends() == 0
    history = folder / "state" / "vetl" / "query_history"
    assert history.stat().st_mode & 0o077 == 0


def test_a_statement_comes_from_a_file_or_from_standard_input(folder: Path) -> None:
    (folder / "asked.sql").write_text("select count(*) as calls\nfrom phone_calls;\n", "utf-8")
    for arguments, given in ((["--file", "asked.sql"], ""), (["--file", "-"], "from wide"), ([], "from wide")):
        done = subprocess.run(
            [sys.executable, "-m", "pipelines", "query", *arguments, "--format", "csv"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "VETL_WAREHOUSE__PUBLISHED": "analytics.duckdb"},
            input=given,
            capture_output=True,
            text=True,
            check=True,
        )
        assert len(done.stdout.splitlines()) == (4 if given else 2)
