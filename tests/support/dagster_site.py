"""Run `vetl dagster dev` over a sandbox, with a `dagster.yaml` that vetl ships."""

import os
import re
import sys
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import dagster as dg
import vetl_sandbox
import yaml
from support.kubernetes_api import Cluster, kubernetes
from support.practice_site import write_settings
from support.processes import answers, free_port, graphql, postgres, running, until
from support.sandbox_settings import credentials
from vetl.endpoints import REGISTRY
from vetl.orchestration.lists import NAME
from vetl_sandbox.clock import START

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
LISTS_ALONE = "support.lists_location"
LAUNCH = """mutation($selector: JobOrPipelineSelector!) {
  launchRun(executionParams: {mode: "default", selector: $selector}) {
  __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }"""
BACKFILL = """mutation($assets: [AssetKeyInput!], $practices: [String!]) {
  launchPartitionBackfill(backfillParams: { assetSelection: $assets, partitionNames: $practices}) {
  __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
END = """mutation($run: String!, $how: TerminateRunPolicy!) { terminateRun(runId: $run, terminatePolicy: $how) {
  __typename ... on TerminateRunFailure { message } } }"""
AGAIN = """mutation($run: String!) {
  launchRunReexecution(reexecutionParams: {parentRunId: $run, strategy: ALL_STEPS}) {
  __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }"""
CHECKS = """{ assetNodes { assetKey { path } assetChecksOrError { ... on AssetChecks { checks { name
  executionForLatestMaterialization { status evaluation { success severity description } } } } } } }"""
DONE = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)


@dataclass(frozen=True)
class Site:
    """`vetl dagster dev` over a sandbox: pages, daemon and code location, with the `dagster.yaml` that ships."""

    platform: vetl_sandbox.Handle
    config: Path
    pages: str
    instance: dg.DagsterInstance
    environment: Mapping[str, str]
    location: str

    @property
    def selector(self) -> dict[str, str]:
        return {"repositoryLocationName": self.location, "repositoryName": "__repository__"}

    def launch(self) -> str:
        selector = {**self.selector, "pipelineName": "everything"}
        run = graphql(self.pages, LAUNCH, selector=selector)["launchRun"]
        assert run["__typename"] == "LaunchRunSuccess", run
        return run["run"]["runId"]

    def backfill(self, practices: Sequence[str]) -> str:
        """Start a backfill of all lists for the chosen practices, as *Materialize* does."""
        assets = [{"path": ["partner", endpoint.table]} for endpoint in REGISTRY]
        launched = graphql(self.pages, BACKFILL, assets=assets, practices=practices)["launchPartitionBackfill"]
        assert launched["__typename"] == "LaunchBackfillSuccess", launched
        return launched["backfillId"]

    def cancel(self, run_id: str) -> None:
        ended = graphql(self.pages, END, run=run_id, how="SAFE_TERMINATE")["terminateRun"]
        assert ended["__typename"] == "TerminateRunSuccess", ended

    def again(self, run_id: str) -> str:
        """Start a run again from its page, and return the new one."""
        run = graphql(self.pages, AGAIN, run=run_id)["launchRunReexecution"]
        assert run["__typename"] == "LaunchRunSuccess", run
        return run["run"]["runId"]

    def checks(self) -> Counter[str]:
        """Return how many checks have each status for the latest rows; `none` if they were not evaluated."""
        return Counter((one or {"status": "none"})["status"] for one in checks_of(self.pages).values())

    def ended(self, run_id: str) -> dg.DagsterRun:
        def done() -> dg.DagsterRun | None:
            run = self.instance.get_run_by_id(run_id)
            return run if run and run.status in DONE else None

        return until(run_id, done)

    def step_of(self, run_id: str) -> tuple[float, float]:
        """Return the times at which the sync of a run began and ended."""
        [step] = self.instance.get_run_step_stats(run_id, ["sync"])
        assert step.start_time
        assert step.end_time
        return step.start_time, step.end_time

    def process_of(self, run_id: str) -> int:
        begun = self.instance.all_logs(run_id, of_type=dg.DagsterEventType.STEP_START)[0]
        assert begun.dagster_event
        assert begun.dagster_event.pid
        return begun.dagster_event.pid


def checks_of(pages: str) -> dict[tuple[str, str], dict[str, Any] | None]:
    """Return the last result of every check for the latest rows of its asset, as the pages show it."""
    return {
        ("/".join(node["assetKey"]["path"]), check["name"]): check["executionForLatestMaterialization"]
        for node in graphql(pages, CHECKS)["assetNodes"]
        for check in node["assetChecksOrError"].get("checks", ())
    }


@contextmanager
def site_of(
    folder: Path,
    *,
    practices: int,
    days: int,
    calls: int,
    start: datetime = START,
    dagster_yaml: str = "deploy/dagster.yaml",
    more: str = "",
    beside: Mapping[str, str] | None = None,
    location: str = LISTS_ALONE,
) -> Generator[Site]:
    """Run a site. `more` are lines of `vetl.toml`, `beside` variables of the environment."""
    home = folder / "dagster"
    home.mkdir()
    shipped = (ROOT / dagster_yaml).read_text("utf-8")
    quick = shipped.replace(
        "slots_after_run_end_seconds: 60", "slots_after_run_end_seconds: 1\n  poll_interval_seconds: 1"
    )
    (home / "dagster.yaml").write_text(quick, "utf-8")
    with vetl_sandbox.running(practices=practices, days=days, calls=calls, start=start, frozen=True) as platform:
        config = write_settings(folder, platform, practices=practices, days=days, more=more)
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("VETL_", "DAGSTER_"))}
        environment = {
            **plain,
            **credentials(platform),
            "PYTHONPATH": str(ROOT / "tests"),
            "DAGSTER_HOME": str(home),
            "VETL_CONFIG": str(config),
            **(beside or {}),
        }
        port = free_port()
        command = [str(BIN / "vetl"), "dagster", "dev", "-m", location, "-h", "127.0.0.1", "-p", str(port)]
        # The instance is created first: otherwise two processes that find no tables both create them, and one
        # fails.
        with dg.DagsterInstance.from_config(str(home)) as instance, running(command, folder, environment):
            pages = f"http://127.0.0.1:{port}"
            until("Dagster's pages", lambda: answers(f"{pages}/server_info"))
            names = [practice.id for practice in platform.practices]
            until("partitions", lambda: instance.get_dynamic_partitions(NAME) == names)
            yield Site(platform, config, pages, instance, environment, location)


@contextmanager
def _on_postgres(folder: Path, dagster_yaml: str, beside: Mapping[str, str], **site: Any) -> Generator[Site]:
    port = free_port()
    beside = {
        **beside,
        "DAGSTER_PG_HOST": "127.0.0.1",
        "DAGSTER_PG_USER": "dagster",
        "DAGSTER_PG_PASSWORD": "secret",
        "DAGSTER_PG_DB": "postgres",
        "DAGSTER_PG_PORT": str(port),
    }
    with (
        postgres(folder, port),
        patch.dict(os.environ, beside),
        site_of(folder, dagster_yaml=dagster_yaml, beside=beside, **site) as made,
        patch.dict(os.environ, credentials(made.platform)),
    ):
        yield made


@contextmanager
def workers_site(folder: Path, beside: Mapping[str, str] | None = None, **site: Any) -> Generator[Site]:
    """Run a site with Postgres, Redis and two workers of Celery for the runs; `site` is for `site_of`."""
    with ExitStack() as stack:
        port = free_port()
        quiet = ["--port", str(port), "--bind", "127.0.0.1", "--save", ""]
        stack.enter_context(running(["redis-server", *quiet], folder, dict(os.environ)))
        redis = f"redis://127.0.0.1:{port}"
        queues = {"CELERY_BROKER_URL": f"{redis}/0", "CELERY_RESULT_BACKEND": f"{redis}/1"}
        beside = {**(beside or {}), **queues}
        made = stack.enter_context(_on_postgres(folder, "deploy/workers/dagster.yaml", beside, **site))
        environment = {**made.environment, "PATH": f"{BIN}:{os.environ['PATH']}"}  # it starts Celery by its name
        for name in ("one", "two"):
            worker = [str(BIN / "dagster-celery"), "worker", "start", "-A", "dagster_celery.app", "-n", name]
            settings = ["-y", str(ROOT / "deploy/workers/celery.yaml")]
            stack.enter_context(running([*worker, *settings], folder, environment))
        yield made


@contextmanager
def kubernetes_site(folder: Path, **site: Any) -> Generator[Site]:
    """Run a site with Dagster's launcher for Kubernetes as in `deploy/helm/workers.yaml`: a job for each run."""
    values = yaml.safe_load((ROOT / "deploy/helm/workers.yaml").read_text("utf-8"))["runLauncher"]
    here = folder / "kubernetes"
    here.mkdir()
    launcher = {
        "module": "dagster_k8s",
        "class": values["type"],
        "config": {
            "run_k8s_config": _snake(values["config"]["k8sRunLauncher"]["runK8sConfig"]),
            "load_incluster_config": False,
            "kubeconfig_file": str(here / "config"),
            "job_image": "vetl",
            "service_account_name": "dagster",
            "instance_config_map": "dagster-instance",
            "dagster_home": str(folder / "dagster"),
        },
    }
    shipped = yaml.safe_load((ROOT / "deploy/workers/dagster.yaml").read_text("utf-8"))
    (here / "dagster.yaml").write_text(yaml.safe_dump({**shipped, "run_launcher": launcher}), "utf-8")
    cluster = Cluster({}, here)
    with (
        kubernetes(cluster, here / "config"),
        _on_postgres(folder, str(here / "dagster.yaml"), {}, **site) as made,
    ):
        cluster.environment = {**made.environment, "PATH": f"{BIN}:{os.environ['PATH']}"}
        yield made
    assert cluster.jobs
    for job in cluster.jobs.values():
        affinity = job["spec"]["template"]["spec"]["affinity"]["podAffinity"]
        assert affinity["requiredDuringSchedulingIgnoredDuringExecution"]


def _snake(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a job under the chart's names in `dagster.yaml`; their content has Kubernetes' names."""
    return {re.sub("[A-Z]", lambda match: f"_{match[0].lower()}", name): part for name, part in config.items()}
