"""The lock of a warehouse: its holder, its waiting processes, and its release."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.processes import holding
from vetl.core.errors import WarehouseBusy, WarehouseError
from vetl.store.writer_lock import held_descriptors, writing

HOLD = (
    "import sys; from pathlib import Path; from vetl.store.writer_lock import writing\n"
    "with writing(Path(sys.argv[1]), lock_wait_seconds=0):\n"
    "    print('held', flush=True); sys.stdin.read()"
)
"""Another vetl, which holds the lock until its input ends."""


def is_free(path: Path) -> bool:
    try:
        with writing(path, lock_wait_seconds=0):
            return True
    except WarehouseBusy:
        return False


def test_the_holder_is_named_to_a_command_that_waited_in_vain(tmp_path: Path) -> None:
    path, waits = tmp_path / "vetl.duckdb", list[float]()
    with (
        holding(HOLD, path) as holder,
        pytest.raises(WarehouseBusy) as busy,
        writing(path, lock_wait_seconds=0.6, wait=waits.append),
    ):
        pass
    assert busy.value.holder == f"another vetl (PID {holder.pid})"
    assert str(busy.value) == (
        f"{path}: another vetl (PID {holder.pid}) is still writing to it after 0.6 seconds of waiting;"
        " try again later"
    )
    assert sum(waits) == pytest.approx(0.6)


def test_a_waiting_command_names_the_process_and_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "vetl.duckdb"
    with holding(HOLD, path) as holder:

        def let_go(_seconds: float) -> None:
            holder.communicate("")

        with writing(path, lock_wait_seconds=600, wait=let_go):
            assert (tmp_path / "vetl.duckdb.lock").read_text().split()[0] == str(os.getpid())
    said = capsys.readouterr().out
    assert said.count("another_vetl_writes") == 1
    assert f"another vetl (PID {holder.pid})" in said
    assert "10 minutes" in said


def test_the_kernel_frees_the_lock_of_a_killed_command(tmp_path: Path) -> None:
    path = tmp_path / "vetl.duckdb"
    with holding(HOLD, path) as holder:
        assert not is_free(path)
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
        assert is_free(path)


def test_a_child_keeps_the_lock_of_a_killed_command(tmp_path: Path) -> None:
    """After `vetl run` was killed, dbt may still be building: until it ends no other process may write."""
    path = tmp_path / "vetl.duckdb"
    with writing(path, lock_wait_seconds=0):
        command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=held_descriptors())
    assert not is_free(path)
    child.communicate(b"")
    assert is_free(path)


def test_within_the_turn_of_a_command_its_parts_do_not_wait(tmp_path: Path) -> None:
    path = tmp_path / "vetl.duckdb"
    with writing(path, lock_wait_seconds=0):
        with writing(path, lock_wait_seconds=0), writing(path, lock_wait_seconds=0):
            pass
        command = [sys.executable, "-c", HOLD, str(path)]
        other = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        assert b"WarehouseBusy" in other.stderr
    assert held_descriptors() == ()
    assert is_free(path)


def test_a_lock_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(WarehouseError, match=r"vetl\.duckdb\.lock: cannot be made"),
        writing(tmp_path / "file" / "vetl.duckdb", lock_wait_seconds=0),
    ):
        pass
