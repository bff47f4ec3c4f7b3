"""`make cluster`: shards read by Celery's workers, marts built by a Spark of two workers; one of each is killed.

In the end every list is certified, every row is the platform's, no minute and no second had more requests than the
limit, and Spark's marts equal those of DuckDB over one file.
"""

import argparse
import os
import shutil
import signal
import sys
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from math import ceil
from pathlib import Path

import dagster as dg
from spark.on_spark import build
from spark.servers import standalone
from spark.tables import compared, published_alike
from support import truth
from support.dagster_site import DONE, Site, workers_site
from support.processes import until
from vetl.jobs.build import build_marts, publish_marts
from vetl.jobs.logs import configure_logs
from vetl.jobs.shards import parts
from vetl.orchestration.list_status import list_statuses
from vetl.orchestration.schedules import AFTER_LISTS, LISTS
from vetl.settings import Settings, load_settings

PATIENCE = 3600
SCHEDULE = 'hourly = "* * * * *"\nnightly = "off"\nweekly = "off"\nwatch = "off"\nby_shard = true\n'


def main() -> int:
    """Run all of it, with a line for each figure; return 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="python -m spark.cluster")
    parser.add_argument("--python", type=Path, required=True, help="with tests/spark/requirements.txt")
    parser.add_argument("--practices", type=int, default=500)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--days", type=int, default=10)
    parser.add_argument("--per-minute", type=int, default=6000, help="requests of all practices together")
    parser.add_argument("--folder", type=Path, default=Path("build/cluster"), help="what is made stays in here")
    options = parser.parse_args()
    configure_logs(0)
    folder = options.folder.absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    beside = {
        "VETL_PARTNER__REQUESTS_PER_MINUTE_TOTAL": str(options.per_minute),
        "VETL_WAREHOUSE__PII_KEY": "4f0c1d2e3b5a69788796a5b4c3d2e1f0",
    }
    world = {"practices": options.practices, "days": options.days, "calls": options.practices * 30}
    more = f"[warehouse]\nshards = {options.shards}\n[schedule]\n{SCHEDULE}"
    with workers_site(folder, beside, location="vetl.definitions", more=more, **world) as site:
        settings = load_settings(site.config)
        site.start_sensor(AFTER_LISTS)
        unlike = [*_tick(site, "first sync", options.shards, kill=True), *_wrong(site, settings)]
        site.platform.advance(timedelta(hours=1))
        unlike += [*_tick(site, "an hour later", options.shards), *_wrong(site, settings)]
        unlike += _above(site, options.per_minute)
    unlike += _on_spark(settings, options.python.absolute(), folder / "spark")
    for line in unlike:
        _say(f"DIFFERS {line}")
    _say("nothing differs" if not unlike else f"{len(unlike)} differences")
    return 1 if unlike else 0


def _tick(site: Site, what: str, shards: int, *, kill: bool = False) -> Iterator[str]:
    """Run one tick of the schedule, until the marts of its runs are published."""
    started, before = time.monotonic(), len(site.platform.requests)
    stop = site.start("hourly")
    earlier = len(_runs(site, LISTS))
    until("the runs of the shards", lambda: len(_runs(site, LISTS)) >= earlier + shards, PATIENCE)
    stop()
    if kill:
        _kill_a_worker(site)
    until("the shards", lambda: all(run.status in DONE for run in _runs(site, LISTS)), PATIENCE)
    read = time.monotonic() - started
    requests = len(site.platform.requests) - before
    until("the run after them", lambda: _is_published(site), PATIENCE)
    _say(f"{what}: {requests:,} requests, lists {read:.0f} s, published after {time.monotonic() - started:.0f} s")
    runs = _runs(site, LISTS)[: len(_runs(site, LISTS)) - earlier]
    failed = [run for run in runs if run.status is not dg.DagsterRunStatus.SUCCESS]
    if len(failed) != kill:
        yield f"{len(failed)} of {len(runs)} runs failed, {what}"
    yield from (
        f"{run.run_id} of {AFTER_LISTS} ended as {run.status.value}"
        for run in _runs(site, AFTER_LISTS)
        if run.status is not dg.DagsterRunStatus.SUCCESS
    )


def _kill_a_worker(site: Site) -> None:

    def reading() -> str | None:
        enough = len(site.platform.requests) > 5 * len(site.platform.practices)
        busy = [run.run_id for run in _runs(site, LISTS) if run.status is dg.DagsterRunStatus.STARTED]
        return busy[0] if enough and busy else None

    run_id = until("a shard that is being read", reading, PATIENCE)
    os.kill(site.process_of(run_id), signal.SIGKILL)
    _say(f"killed the worker of run {run_id} after {len(site.platform.requests):,} requests")
    until("its end", lambda: site.ended(run_id))
    taken = dg.RunsFilter(tags={"dagster/parent_run_id": run_id})
    until("who takes it over", lambda: site.instance.get_runs(taken), PATIENCE)


def _runs(site: Site, job: str) -> list[dg.DagsterRun]:
    return list(site.instance.get_runs(dg.RunsFilter(job_name=job)))


def _is_published(site: Site) -> bool:
    """Return whether the run after the lists began when the last of them had ended, and is done."""
    lists, after = (site.instance.get_run_records(dg.RunsFilter(job_name=job)) for job in (LISTS, AFTER_LISTS))
    last = max(record.end_time or 0.0 for record in lists)
    done = [record for record in after if record.dagster_run.status in DONE]
    return len(done) == len(after) and any((record.start_time or 0.0) > last for record in done)


def _wrong(site: Site, settings: Settings) -> Iterator[str]:
    """Return lists that are not certified, and rows that are not the platform's."""
    zones = {one.id: one.time_zone for one in site.platform.practices}
    states = Counter(item.state for item in list_statuses(settings))
    if set(states) != {"certified"}:
        yield f"lists are {dict(states)}"
    for part in parts(settings):
        own = {practice.id: zones[practice.id] for practice in part.practices}
        since = settings.practices[0].history_start
        yield from truth.differences(site.platform, part.warehouse.path, own, since=since)
    _say(f"{sum(states.values()):,} lists, and every row of them held against the platform's")


def _above(site: Site, per_minute: int) -> Iterator[str]:
    """Return a minute or a second with more requests than the limit."""
    arrived = sorted(seen.arrived for seen in site.platform.requests.log)
    for span, name, allowed in ((60, "minute", per_minute), (1, "second", ceil(per_minute / 60))):
        most = max(bisect_left(arrived, at + span) - n for n, at in enumerate(arrived))
        _say(f"at most {most:,} requests in a {name}, where {allowed:,} are allowed")
        if most > allowed:
            yield f"{most:,} requests in a {name}, where {allowed:,} are allowed"


def _on_spark(settings: Settings, python: Path, folder: Path) -> Iterator[str]:
    """Build on a cluster, kill a worker of it half-way, and compare with DuckDB's build over one file."""
    folder.mkdir()
    with standalone(python, folder) as (master, kill):
        killed: list[int] = []

        def advance(done: int, total: int) -> None:
            if not killed and done * 2 > total:
                killed.append(done)
                kill()
                _say(f"killed a Spark worker after {done} of {total} models and tests")

        there = build(settings, python, folder / "build", master, advance)
    _say(f"Spark: {there.result.succeeded} succeeded in {there.result.seconds:.0f} s, from {there.files:,} files")
    if there.result.failures:
        yield from there.result.failures
        return
    one = settings.model_copy(update={"warehouse": settings.warehouse.model_copy(update={"shards": 1})})
    parts(one)
    yield from build_marts(one, full_refresh=True).failures
    publish_marts(one)
    equal = 0
    for table in compared(one.warehouse.path, there.tables):
        equal += table.is_equal
        if not table.is_equal:
            yield str(table)
    _say(f"{equal} models are equal on Spark and on DuckDB over one file")
    yield from published_alike(one.warehouse.published, there.published)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
