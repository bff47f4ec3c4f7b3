"""A signal ends a command that waits: one line, and its exit code; `test_bad_days.py` ends one at work."""

import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.processes import until

SETTINGS = """
[partner]
base_url = "http://127.0.0.1:{port}"
[[practices]]
id = "p1"
name = "Harbor"
time_zone = "America/New_York"
history_start = 2025-01-01
"""


@contextmanager
def started(*arguments: str) -> Generator[subprocess.Popen[bytes]]:
    """Run a command in a process of its own, which heeds Ctrl-C although a suite in the background does not."""
    command = ["env", "--default-signal=INT", sys.executable, "-m", "vetl", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_ctrl_c_ends_doctor_as_it_waits_for_the_platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("USERNAME", "PASSWORD", "ROLE"):
        monkeypatch.setenv(f"VETL_PARTNER__{name}", "any")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        Path("vetl.toml").write_text(SETTINGS.format(port=silent.getsockname()[1]), "utf-8")
        with started("doctor") as process:
            silent.settimeout(60)
            connection, _ = silent.accept()
            with connection:
                assert connection.recv(1)
                process.send_signal(signal.SIGINT)
                _, err = process.communicate(timeout=60)

    assert (process.returncode, err) == (130, b"vetl: interrupted\n")


def test_ctrl_c_during_an_import_is_not_lost(tmp_path: Path) -> None:
    """Pydantic ignores it there, or raises an error of its own, which was an internal error."""
    script = """if True:
        import signal, sys
        from contextlib import suppress
        from vetl.cli.app import main

        class Native:
            def find_spec(self, name, *_):
                if name == "duckdb":
                    with suppress(KeyboardInterrupt):
                        signal.raise_signal(signal.SIGINT)

        sys.meta_path.insert(0, Native())
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.argv = ["vetl", "query", "--list"]
        main()
    """
    ended = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, check=False)

    assert (ended.returncode, ended.stderr) == (130, b"vetl: interrupted\n")


def test_sigterm_ends_the_program_that_a_command_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dagster's processes ran on after a SIGTERM, because the program that had started them was killed."""
    monkeypatch.chdir(tmp_path)
    fake, demo = tmp_path / "modules/dagster", tmp_path / "demo"
    fake.mkdir(parents=True)
    (fake / "__init__.py").touch()
    (fake / "__main__.py").write_text(
        "import pathlib, time\npathlib.Path('begun').touch()\n"
        "try:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    pathlib.Path('ended').touch()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(fake.parent))
    demo.mkdir()
    (demo / "vetl.toml").touch()
    with started("-C", "demo", "dagster", "instance", "info") as process:
        until("the program begins", (demo / "begun").exists)
        process.terminate()
        _, err = process.communicate(timeout=60)

    assert (process.returncode, err.splitlines()[-1]) == (143, b"vetl: terminated")
    assert (demo / "ended").exists()
