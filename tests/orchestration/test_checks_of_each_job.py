"""Every check after each job of a story, in Dagster's pages: passed, failed for a reason, or unchanged."""

import os
import shutil
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from support.dagster_site import BIN, ROOT, checks_of
from support.deliveries import body_of, message
from support.practice_site import site
from support.processes import answers, free_port, running, until
from support.small_project import few_models
from vetl.addons.act.dagster import ACTS
from vetl.endpoints import RECEIVED, REGISTRY
from vetl.engine import order
from vetl.orchestration.lists import Again, run_config
from vetl.orchestration.location import vetl_definitions
from vetl.orchestration.resources import raw_key
from vetl.partner.webhooks import Channel
from vetl.publishing.statements import query
from vetl.receiving.inbox import Entry, Inbox
from vetl.settings import load_settings
from vetl.store.person import ForgetPlan, keep_plans, look_up, read_plans
from vetl.store.warehouse import Warehouse
from vetl_sandbox import Fault
from vetl_sandbox.faults import Faults
from vetl_sandbox.platform import Credentials

NO_PLAN = {"ops": {"apply_plan": {"config": {"digest": "0" * 16}}}}
PAGE = (ROOT / "docs" / "dagster.md").read_text("utf-8")
ONE_MART = dg.AssetKey(["marts", "staff_tasks"])
LISTS = [raw_key(endpoint.table) for endpoint in REGISTRY]
YELLOW = {("published/analytics", "thresholds")}
"""This check may be yellow or not: few models have no metric."""

Check = tuple[str, str]
Shown = dict[Check, dict[str, Any] | None]


def of_status(checks: Shown, *statuses: str) -> set[Check]:
    return {key for key, execution in checks.items() if execution and execution["status"] in statuses}


def row_of(what: str, checks: Shown, *, is_success: bool) -> str:
    """Return the row of docs/dagster.md about a run: its result, the checks that failed or were not evaluated."""
    failed = of_status(checks, "FAILED") - YELLOW
    by_name: dict[tuple[str, str], int] = Counter(
        (name, checks[asset, name]["evaluation"]["severity"])  # pyright: ignore[reportOptionalSubscript] - it failed
        for asset, name in failed
    )
    words = [
        f"`{name}` of {count}: {'red' if severity == 'ERROR' else 'yellow'}"
        for (name, severity), count in sorted(by_name.items())
    ]
    grey = sorted(f"`{name}` of `{asset}`" for (asset, name), execution in checks.items() if execution is None)
    return f"| {what} | {'green' if is_success else 'red'} | {', '.join(words)} | {', '.join(grey)} |"


@dataclass(frozen=True)
class Place:
    """Jobs that run in this process, and Dagster's pages on the same instance."""

    platform: Any
    definitions: dg.Definitions
    instance: dg.DagsterInstance
    pages: str
    config: Path
    measured: list[str] = field(default_factory=list[str])

    def after(
        self,
        job: str,
        config: Any = None,
        assets: Sequence[dg.AssetKey] = (),
        practice: str | None = None,
        what: str = "",
    ) -> tuple[bool, Shown]:
        """Return whether a run of the job succeeded, and the last result of every check, or none if it never ran.

        With `assets`, materialize these instead of running a job; with a practice, as a backfill of its partition.
        `what` names the run in the table of the documentation.
        """
        resolved = (
            self.definitions.resolve_implicit_global_asset_job_def()
            if assets
            else self.definitions.resolve_job_def(job)
        )
        run = resolved.execute_in_process(
            run_config=config,
            instance=self.instance,
            raise_on_error=False,
            asset_selection=assets or None,
            partition_key=practice,
        )
        checks = checks_of(self.pages)
        assert of_status(checks, "EXECUTION_FAILED", "SKIPPED", "IN_PROGRESS") == set(), job
        if what:
            self.measured.append(row_of(what, checks, is_success=run.success))
        return run.success, checks

    def outputs_of_the_build(self) -> int:
        """Return the number of outputs in the last run; each is an event of 10 ms beside that of its model."""
        [run] = self.instance.get_runs(limit=1)
        events = self.instance.all_logs(run.run_id, of_type=dg.DagsterEventType.STEP_OUTPUT)
        return sum(event.step_key == "dbt_build" for event in events)

    def rows_shown(self, asset: dg.AssetKey) -> object:
        """Return the number of rows on the page of an asset, which a run observes after the publication."""
        [record] = self.instance.fetch_observations(asset, limit=1).records
        assert record.asset_observation
        return record.asset_observation.metadata["dagster/row_count"].value

    def deliver(self, practice: str) -> None:
        body = body_of(message(f"m-{time.monotonic_ns()}", clinic_id=practice))
        with Inbox.open(load_settings(self.config).webhooks.inbox) as inbox:
            inbox.keep([Entry(Channel.MESSAGES, practice, body, datetime.now(UTC))])

    def interrupt_a_forgetting(self, practice: str) -> str:
        """Keep the plan to forget a client, as an interrupted command does; return the client's id."""
        path = load_settings(self.config).warehouse.path
        [(client,)] = query(path, f"select min(id) from raw.clients where practice_id = '{practice}'").rows
        with Warehouse.open(path, REGISTRY, lock_wait_seconds=0) as warehouse:
            keep_plans(path, [ForgetPlan(look_up(warehouse, practice, client))])
        return client

    def passed(self) -> set[Check]:
        """Return the checks that passed at their last run, in any run."""
        keys = list(self.definitions.resolve_asset_graph().asset_check_keys)
        records = self.instance.event_log_storage.get_asset_check_summary_records(keys)
        return {
            (key.asset_key.to_user_string(), key.name)
            for key, record in records.items()
            if record.last_check_execution_record
            and record.last_check_execution_record.status.value == "SUCCEEDED"
        }


class RevokedAt(Faults):
    """The password and every token end at the first request of a practice."""

    def __init__(self, platform: Any, practice: str) -> None:
        super().__init__()
        self._platform, self._practice, self.done = platform, practice, False

    def strike(self, path: str, event: str) -> Fault | None:
        if not self.done and event.endswith(f" {self._practice}"):
            self.done = True
            self._platform.credentials = Credentials(password="another")
            self._platform.revoke_tokens()
        return super().strike(path, event)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Generator[Place]:
    """Provide a site with two practices and few models, which both stories use; `dbt` has already imported dbt."""
    models = ("booking_intent_daily", "clients", "staff_tasks")
    with few_models(tmp_path_factory.mktemp("few-models"), *models), pytest.MonkeyPatch.context() as monkeypatch:
        yield from _place(tmp_path_factory.mktemp("place"), monkeypatch)


def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Place]:
    home = tmp_path / "dagster"
    home.mkdir()
    shutil.copy(ROOT / "deploy/dagster.yaml", home)
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    with site(tmp_path, monkeypatch, practices=2) as (platform, config), ExitStack() as stack:
        monkeypatch.setenv("VETL_CONFIG", str(config))
        definitions = vetl_definitions(config)
        instance = stack.enter_context(dg.DagsterInstance.from_config(str(home)))
        port = free_port()
        command = f"{BIN / 'dagster-webserver'} -m vetl.definitions -h 127.0.0.1 -p {port}".split()
        stack.enter_context(running(command, tmp_path, dict(os.environ)))
        pages = f"http://127.0.0.1:{port}"
        until("Dagster's pages", lambda: answers(f"{pages}/server_info"))
        yield Place(platform, definitions, instance, pages, config)


def test_runs_that_work_leave_every_other_check_its_result(place: Place) -> None:
    is_success, checks = place.after("everything", what="the first run")
    assert is_success
    yellow = of_status(checks, "FAILED")
    assert yellow <= YELLOW
    tested = of_status(checks, "SUCCEEDED")
    assert len(tested) > 40
    published = load_settings(place.config).warehouse.published
    assert [(place.rows_shown(ONE_MART),)] == query(published, "select count(*) from marts.staff_tasks").rows

    # A delivery is a change: the marts are built; tests that run only at night keep their results.
    first = place.platform.practices[0].id
    private = load_settings(place.config).warehouse.path
    client = place.interrupt_a_forgetting(first)
    for what, job, config, assets, practice, has_delivery in (
        ("`drain`, with a webhook", "drain", None, (), None, True),
        ("`watch`", "watch", None, (), None, False),
        ("an hour later, without news", "everything", None, (), None, False),
        ("an hour with news", "everything", None, (), None, True),
        ("the nightly run", "everything", run_config(Again.recent), (), None, False),
        ("a backfill of all lists of a practice", "", None, LISTS, first, False),
        ("one mart alone", "", None, [ONE_MART], None, False),
        ("`acts/ledger`, while `[act]` is off", "", None, [ACTS], None, False),
        ("`act`, while `[act]` is off", "act", NO_PLAN, (), None, False),
        ("`letters`", "letters", None, (), None, False),
    ):
        if has_delivery:
            place.deliver(first)
        is_success, checks = place.after(job, config, assets, practice, what)
        assert (is_success, of_status(checks, "FAILED")) == (True, yellow), job
        assert tested <= place.passed(), job
        if job:
            assert place.outputs_of_the_build() == 0, job
        # The first build continues the forgetting, as `vetl run` does.
        assert read_plans(private) == []
        assert query(private, f"select count(*) from raw.clients where id = '{client}'").rows == [(0,)]
    unwritten = [row for row in place.measured if row not in PAGE]
    assert not unwritten, "\n".join(unwritten)


def test_a_backfill_of_one_list_is_built_if_it_brought_news(place: Place) -> None:
    drain = place.definitions.resolve_job_def("drain")
    sensor = place.definitions.resolve_sensor_def("backfills")

    def made() -> set[str]:
        """Return the tables that are made if the sensor requests a build after the last run."""
        [run] = place.instance.get_runs(limit=1)
        [event] = place.instance.all_logs(run.run_id, of_type=dg.DagsterEventType.RUN_SUCCESS)
        assert event.dagster_event
        context = dg.build_run_status_sensor_context("backfills", event.dagster_event, place.instance, run)
        request = sensor(context)
        if not isinstance(request, dg.RunRequest):
            return set()
        return built(request.tags)

    def built(tags: Any = None) -> set[str]:
        result = drain.execute_in_process(instance=place.instance, tags=tags)
        names = {
            event.asset_key.path[-1] for event in result.get_asset_materialization_events() if event.asset_key
        }
        return names - {endpoint.table for endpoint in RECEIVED}

    first = place.platform.practices[0].id
    place.after("everything")
    assert made() == set()
    place.after("backfill of a list", None, LISTS[-1:], first)
    assert made() == {"analytics"}, "nothing is built if nothing has changed"

    [task, *_] = place.platform.truth(first, "staff_tasks")
    place.platform.update(
        first, "staff_tasks", task["id"], {"title": "changed", "updated_at": place.platform.now()}
    )
    one = {"ops": {"sync": {"config": {"lists": ["staff_tasks"], "reconcile": "full"}}}}
    place.after("everything", one)
    tables = made()
    assert {"staff_tasks", "analytics"} <= tables
    assert "booking_intent_daily" not in tables

    place.after("one mart", None, [ONE_MART])
    assert made() == set()
    assert built() == {"analytics"}, "the build before is still whole"


def test_a_run_that_stops_shows_the_reason_and_keeps_earlier_results(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The platform refuses a practice: the checks of its lists are red, and all other checks have run.
    world = place.platform.platform.world
    first, gone = (practice.id for practice in place.platform.practices)
    taken = world.practices.pop(gone)
    is_success, checks = place.after("everything", what="one of two practices is refused")
    assert not is_success
    assert of_status(checks, "FAILED") - YELLOW == {("/".join(key.path), "certified") for key in LISTS}
    world.practices[gone] = taken
    task = next(one for one in place.platform.truth(first, "staff_tasks") if one["status"] == "pending")
    place.platform.update(first, "staff_tasks", task["id"], {"cancellation_allowed": "perhaps"})
    assert place.after("everything", what="a bad row")[0]
    place.platform.update(first, "staff_tasks", task["id"], {"cancellation_allowed": True})

    # The password is revoked after the first practice is read: its rows stay, and the marts are built.
    right = place.platform.platform.credentials
    monkeypatch.setattr(order, "PRACTICES_AT_ONCE", 1)
    place.platform.platform.faults = RevokedAt(place.platform.platform, gone)
    is_success, checks = place.after("everything", what="the password is revoked during the run")
    assert not is_success
    assert of_status(checks, "FAILED") - YELLOW == {("/".join(key.path), "certified") for key in LISTS}
    [run] = place.instance.get_runs(limit=1)
    [build] = place.instance.get_run_step_stats(run.run_id, ["dbt_build"])
    assert build.status
    assert build.status.value == "SUCCESS"
    stopped = checks["partner/staff_tasks", "certified"]
    assert stopped
    assert stopped["evaluation"]["description"].startswith(f"{gone}: ")
    assert "sign-in refused" in stopped["evaluation"]["description"]
    assert first not in stopped["evaluation"]["description"]

    # No sign-in succeeds: the steps after the lists are skipped. Their checks are run, and none is made up.
    is_success, checks = place.after("everything", what="no sign-in succeeds")
    assert not is_success
    assert of_status(checks, "FAILED") - YELLOW == {("/".join(key.path), "certified") for key in LISTS}
    failed = checks["partner/staff_tasks", "certified"]
    assert failed
    assert "sign-in refused" in failed["evaluation"]["description"]
    [run] = place.instance.get_runs(limit=1)
    evaluated = place.instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    assert {record.dagster_event.step_key for record in evaluated if record.dagster_event} == {"sync"}

    place.platform.platform.credentials = right
    is_success, checks = place.after("everything", what="the next run, when all is well")
    assert (is_success, of_status(checks, "FAILED") - YELLOW) == (True, set())
    unwritten = [row for row in place.measured if row not in PAGE]
    assert not unwritten, "\n".join(unwritten)
