"""`make bench`: the first sync of a million calls and of 200,000 appointments against the floor, interleaved."""

import argparse
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

from benchmarks import first_sync, floor
from benchmarks.measured import Cost, measured
from benchmarks.ready_pages import HEADER, first_day, render

_SERVE = "from benchmarks.ready_pages import serve; serve({port}, {calls}, {appointments})"
_HEADS = f"{'':24}{'rows/s':>10}{'wall s':>9}{'CPU s':>9}{'peak MiB':>10}{'CPU ratio':>11}{'wall ratio':>11}"


def main() -> None:
    """Serve ready pages, run floor and sync in turn, print the costs and their ratios."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--appointments", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _write_bytes(folder, options.calls, options.appointments)
        port = _free_port()
        server = subprocess.Popen(  # noqa: S603 - our own module
            [
                sys.executable,
                "-c",
                _SERVE.format(port=port, calls=options.calls, appointments=options.appointments),
            ]
        )
        try:
            base_url = f"http://127.0.0.1:{port}"
            _wait(port)
            print(_HEADS)
            _compare(
                "calls",
                options.calls,
                options.runs,
                lambda at: measured(floor.calls, base_url, options.calls, at),
                lambda at: measured(first_sync.run, base_url, "phone_calls", first_day(options.calls), at),
                folder,
            )
            _compare(
                "appointments",
                options.appointments,
                options.runs,
                lambda at: measured(floor.appointments, base_url, options.appointments, at),
                lambda at: measured(first_sync.run, base_url, "appointments", date(2025, 1, 1), at),
                folder,
            )
        finally:
            server.terminate()
            server.wait()


def _compare(
    name: str,
    rows: int,
    runs: int,
    run_floor: Callable[[Path], Cost],
    run_sync: Callable[[Path], Cost],
    folder: Path,
) -> None:
    floors: list[Cost] = []
    syncs: list[Cost] = []
    for _ in range(runs):
        for results, run in ((floors, run_floor), (syncs, run_sync)):
            results.append(run(folder))
            for left in folder.glob("*.duckdb*"):
                left.unlink()
    _line(f"{name}: floor", rows, floors, floors)
    _line(f"{name}: vetl sync", rows, syncs, floors)


def _line(label: str, rows: int, costs: list[Cost], floors: list[Cost]) -> None:
    wall, cpu = statistics.median(cost.wall for cost in costs), statistics.median(cost.cpu for cost in costs)
    cpu_ratio = statistics.median(cost.cpu / base.cpu for cost, base in zip(costs, floors, strict=True))
    wall_ratio = statistics.median(cost.wall / base.wall for cost, base in zip(costs, floors, strict=True))
    peak = max(cost.peak_mib for cost in costs)
    print(
        f"{label:24}{rows / wall:>10,.0f}{wall:>9.2f}{cpu:>9.2f}{peak:>10.0f}{cpu_ratio:>11.2f}{wall_ratio:>11.2f}"
    )


def _write_bytes(folder: Path, calls: int, appointments: int) -> None:
    """The bytes that the floor loads from disk."""
    ready = render(calls, appointments)
    with (folder / "calls.csv").open("wb") as file:
        file.write(HEADER)
        for day in ready.call_days:
            file.writelines(day)
    with (folder / "appointments.ndjson").open("wb") as file:
        for start in range(0, len(ready.appointments), 100):
            file.write(b'{"content":[' + b",".join(ready.appointments[start : start + 100]) + b"]}\n")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(port: int) -> None:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError("the bench server did not start")


if __name__ == "__main__":
    main()
