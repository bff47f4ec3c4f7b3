"""The processes of a deployment, without containers: code location, web pages, daemon, receiver, Postgres.

Each runs as in `deploy/`, on ports of its own.
"""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
import vetl_sandbox
from support.practice_site import write_settings
from support.processes import answers, free_port, graphql, postgres, running, until

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
Process = subprocess.Popen[bytes]

LAUNCH = """mutation($job: String!) { launchRun(executionParams: {mode: "default", selector: {
  repositoryLocationName: "vetl", repositoryName: "__repository__", jobName: $job}}) {
  __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }"""
STATUS = "query($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"
DAEMONS = "{ instance { daemonHealth { allDaemonStatuses { daemonType healthy } } } }"


@dataclass(frozen=True)
class Deployment:
    folder: Path
    pages: str
    receiver: str
    code: Process

    def launch(self, job: str) -> str:
        launched = graphql(self.pages, LAUNCH, job=job)["launchRun"]
        assert launched["__typename"] == "LaunchRunSuccess", launched
        return launched["run"]["runId"]

    def status(self, run_id: str) -> str:
        return graphql(self.pages, STATUS, id=run_id)["runOrError"]["status"]


def written(folder: Path, platform: Any) -> dict[str, str]:
    """Return the files of a deployment, with this test's ports, and the environment of its processes."""
    home = folder / "dagster"
    home.mkdir()
    (home / "storage").mkdir()
    ports = {name: free_port() for name in ("postgres", "code")}
    dagster = (ROOT / "deploy/compose/dagster.yaml").read_text("utf-8")
    (home / "dagster.yaml").write_text(dagster.replace("port: 5432", f"port: {ports['postgres']}"))
    workspace = (ROOT / "deploy/compose/workspace.yaml").read_text("utf-8")
    (folder / "workspace.yaml").write_text(
        workspace.replace("host: code", "host: 127.0.0.1").replace("port: 4000", f"port: {ports['code']}")
    )
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("VETL_", "DAGSTER_"))}
    return {
        **plain,
        **{f"VETL_PARTNER__{key}".upper(): getattr(platform, key) for key in ("username", "password", "role")},
        "DAGSTER_HOME": str(home),
        "DAGSTER_PG_HOST": "127.0.0.1",
        "DAGSTER_PG_USER": "dagster",
        "DAGSTER_PG_PASSWORD": "secret",
        "DAGSTER_PG_DB": "postgres",
        "DAGSTER_EVENT_BATCH_SIZE": "500",
        "VETL_CONFIG": str(write_settings(folder, platform, practices=2)),
        "VETL_WEBHOOKS__SECRETS": "a-secret-of-32-characters-at-least",
        "PORTS": json.dumps(ports),
    }


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Generator[Deployment]:
    folder = tmp_path_factory.mktemp("deployed")
    with ExitStack() as stack:
        platform = stack.enter_context(vetl_sandbox.running(practices=2, days=10, calls=120))
        environment = written(folder, platform)
        ports = json.loads(environment.pop("PORTS"))
        stack.enter_context(postgres(folder, ports["postgres"]))
        pages, hooks = free_port(), free_port()
        served = ["-h", "127.0.0.1", "-p", str(ports["code"]), "-m", "vetl.definitions"]
        workspace = ["-w", str(folder / "workspace.yaml")]
        code = [str(BIN / "dagster"), "code-server", "start", *served]
        check = [str(BIN / "dagster"), "api", "grpc-health-check", "-p", str(ports["code"])]
        process = stack.enter_context(running(code, folder, environment))
        until(
            "the code location",
            lambda: subprocess.run(check, env=environment, capture_output=True, check=False).returncode == 0,
        )
        webserver = [str(BIN / "dagster-webserver"), "-h", "127.0.0.1", "-p", str(pages), *workspace]
        stack.enter_context(running(webserver, folder, environment))
        stack.enter_context(running([str(BIN / "dagster-daemon"), "run", *workspace], folder, environment))
        receiver = [str(BIN / "vetl"), "webhooks", "serve", "--port", str(hooks)]
        stack.enter_context(running(receiver, folder, environment))
        until("Dagster's pages", lambda: answers(f"http://127.0.0.1:{pages}/server_info"))
        yield Deployment(folder, f"http://127.0.0.1:{pages}", f"http://127.0.0.1:{hooks}", process)


def ended(deployment: Deployment, run_id: str) -> str:
    done = {"SUCCESS", "FAILURE", "CANCELED"}
    return until(run_id, lambda: status if (status := deployment.status(run_id)) in done else None)


def test_a_run_that_is_asked_for_on_the_page_publishes(deployment: Deployment) -> None:
    assert ended(deployment, deployment.launch("everything")) == "SUCCESS"

    published = deployment.folder / "warehouse/data/analytics.duckdb"
    with duckdb.connect(published, read_only=True) as connection:
        assert connection.sql("select count(*) from marts.practices").fetchall() == [(2,)]
        assert connection.sql("select bool_and(warehouse_count > 0) from meta.proof").fetchall() == [(True,)]


def test_the_daemons_are_healthy_and_the_receiver_is_ready(deployment: Deployment) -> None:
    def healthy() -> bool:
        daemons = graphql(deployment.pages, DAEMONS)["instance"]["daemonHealth"]["allDaemonStatuses"]
        needed = {"SCHEDULER", "SENSOR", "QUEUED_RUN_COORDINATOR", "MONITORING"}
        return needed <= {one["daemonType"] for one in daemons if one["healthy"]}

    until("the daemons", healthy)
    assert answers(f"{deployment.receiver}/readyz")
