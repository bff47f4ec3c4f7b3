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
from pathlib import Path
from typing import Self

import duckdb
import pytest

WIDTH = 100
CTRL_C, CTRL_D = b"\x03", b"\x04"
GIGABYTE = 1 << 30


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("terminal")
    with duckdb.connect(str(folder / "analytics.duckdb")) as connection:
        connection.execute("""
            create schema marts;
            create table marts.phone_calls as
                select range as call_id, 'a summary of many words ' || repeat('word ', 30) as summary
                from range(44008);
            create view marts.many as
                select range as id, 'a summary of many words ' || repeat('word ', 30) as summary
                from range(200_000_000);
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
            [sys.executable, "-m", "vetl", "query", *arguments],
            cwd=folder,
            env={
                **environment,
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

    def shows(self, expected: str) -> str:
        """Return the output up to these words, and remove it."""
        while expected not in self.shown:
            assert self._reads(), f"ended without {expected!r}: {self.shown[-2000:]!r}"
        before, words, self.shown = self.shown.partition(expected)
        return before + words

    def ends(self) -> int:
        """Return the exit code after the command has printed the rest."""
        while self._reads():
            pass
        return self._process.wait(60)

    def _reads(self) -> bool:
        """Wait for more output; return whether there is any, or the command has ended."""
        ready, _, _ = select.select([self._screen], [], [], 60)
        assert ready, f"nothing comes after {self.shown[-2000:]!r}"
        try:
            self.shown += os.read(self._screen, 65536).decode(errors="replace").replace("\r", "")
        except OSError:
            return False
        return True


def lines_of(shown: str) -> list[str]:
    """Return the output without colours and without the spinner, which the terminal has erased."""
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown).splitlines()
    return [line for line in plain if "Ctrl-C ends it" not in line]


def test_two_hundred_million_rows_take_bounded_memory(folder: Path) -> None:
    """Forty rows that fit are shown, and a count."""
    with Terminal(folder, "from many", memory=4 * GIGABYTE) as terminal:
        assert terminal.ends() == 0

    lines = lines_of(terminal.shown)
    assert lines[-1] == "200,000,000 rows (40 shown; --format csv writes all)"
    assert len(lines) == 4 + 40 + 1 + 1
    assert {len(line) for line in lines[:-1]} <= {WIDTH, WIDTH - 1}
    assert "a summary of many words word" in lines[4], "a cell is cut where the line ends, not before"
    assert lines[4].rstrip(" │").endswith("…")


def test_rows_come_first_and_one_ctrl_c_ends_the_counting(folder: Path) -> None:
    endless = "select a.range, b.range from range(10_000_000) a, range(10_000_000) b where a.range + b.range >= 0"
    with Terminal(folder, endless) as terminal:
        assert len(lines_of(terminal.shows("┘"))) == 4 + 40 + 1
        terminal.shows("counting the rows, Ctrl-C ends it")
        terminal.types(CTRL_C)
        assert terminal.ends() == 130

    assert "vetl: interrupted" in terminal.shown


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
    with Terminal(folder) as terminal:
        terminal.shows("vetl> ")
        terminal.types(b"help\n")
        terminal.shows("statement ends with")
        terminal.types(b"\\d\n")
        terminal.shows("phone_calls")
        terminal.types(b"\\d phone_calls;\n")
        terminal.shows("summary")
        terminal.types(b"\\q\n")
        assert terminal.ends() == 0
    history = folder / "state" / "vetl" / "query_history"
    assert history.stat().st_mode & 0o077 == 0
