"""`make bench`: the first sync of a million calls and of 200,000 appointments, beside the floor and peers."""

import argparse
import shutil
import statistics
import tempfile
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks import first_sync, floor, peers
from benchmarks.measured import Cost, measured
from benchmarks.ready_pages import HEADER, first_day, render, served

_HEADS = f"{'':32}{'rows/s':>10}{'wall s':>9}{'CPU s':>9}{'peak MiB':>10}{'CPU ratio':>11}{'wall ratio':>11}"


def main() -> None:
    """Serve ready pages, run floor, sync and peers in turn, print the costs and their ratios."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--appointments", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds until an answer begins")
    names = ("script", "dlt_arrow", "dlt_dictionaries")
    parser.add_argument("--peers", nargs="*", choices=names, default=names[:2], help="who else reads the same")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _write_bytes(folder, options.calls, options.appointments)
        with served(options.calls, options.appointments, options.latency) as base_url:
            print(_HEADS)
            contenders = {name: getattr(peers, name) for name in options.peers}
            for path, count, start, run_floor, queries in (
                ("phone_calls", options.calls, first_day(options.calls), floor.calls, floor.call_queries),
                (
                    "appointments",
                    options.appointments,
                    date(2025, 1, 1),
                    floor.appointments,
                    floor.appointment_queries,
                ),
            ):
                asked = queries(count)
                runs: dict[str, tuple[Callable[..., None], tuple[Any, ...]]] = {
                    "floor": (run_floor, (base_url, count, folder)),
                    "vetl sync": (first_sync.run, (base_url, path, start, folder)),
                    **{name: (run, (base_url, path, asked, folder)) for name, run in contenders.items()},
                }
                _compare(path, count, options.runs, runs, folder)


def _compare(
    path: str,
    rows: int,
    rounds: int,
    runs: Mapping[str, tuple[Callable[..., None], tuple[Any, ...]]],
    folder: Path,
) -> None:
    """Run each once a round, so that other work on the machine affects all of them alike."""
    costs: dict[str, list[Cost]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, (run, arguments) in runs.items():
            costs[name].append(measured(run, *arguments))
            for left in folder.glob("*.duckdb*"):
                left.unlink()
            shutil.rmtree(folder / "dlt", ignore_errors=True)
    for name, results in costs.items():
        _line(f"{path}: {name}", rows, results, costs["floor"])


def _line(label: str, rows: int, costs: list[Cost], floors: list[Cost]) -> None:
    wall, cpu = statistics.median(cost.wall for cost in costs), statistics.median(cost.cpu for cost in costs)
    cpu_ratio = statistics.median(cost.cpu / base.cpu for cost, base in zip(costs, floors, strict=True))
    wall_ratio = statistics.median(cost.wall / base.wall for cost, base in zip(costs, floors, strict=True))
    peak = max(cost.peak_mib for cost in costs)
    print(
        f"{label:32}{rows / wall:>10,.0f}{wall:>9.2f}{cpu:>9.2f}{peak:>10.0f}{cpu_ratio:>11.2f}{wall_ratio:>11.2f}"
    )


def _write_bytes(folder: Path, calls: int, appointments: int) -> None:
    """Write the bytes that the floor loads from disk."""
    ready = render(calls, appointments)
    with (folder / "calls.csv").open("wb") as file:
        file.write(HEADER)
        for day in ready.call_days:
            file.writelines(day)
    with (folder / "appointments.ndjson").open("wb") as file:
        for start in range(0, len(ready.appointments), 100):
            file.write(b'{"content":[' + b",".join(ready.appointments[start : start + 100]) + b"]}\n")


if __name__ == "__main__":
    main()
