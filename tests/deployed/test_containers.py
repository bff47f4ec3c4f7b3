"""Each service of Compose, unit of systemd and pod of the chart starts with what its file gives it."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.containers import ROOT, USER, Given, image_environment, network
from support.practice_site import practice_tables
from support.processes import postgres, running, until
from support.published import published_once

DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]
VETLS = [name for name, service in COMPOSE.items() if "VETL_IMAGE" in service["image"]]
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
GIVEN = {
    **dict.fromkeys(("VETL_PARTNER__USERNAME", "VETL_PARTNER__PASSWORD", "VETL_PARTNER__ROLE"), "practice"),
    "VETL_WEBHOOKS__SECRETS": "a-secret-of-32-characters-at-least",
    "VETL_DASHBOARD__PASSWORD": "a password for the dashboard 7391",
    "DAGSTER_PG_PASSWORD": "secret",
}
"""What a person fills into vetl.env."""
HEALTH = {
    "code": ["/opt/vetl/bin/dagster", "api", "grpc-health-check", "-p", "4000"],
    "daemon": ["/opt/vetl/bin/dagster-daemon", *COMPOSE["daemon"]["healthcheck"]["test"][2:]],
    "receiver": COMPOSE["receiver"]["healthcheck"]["test"][1:],
    "webserver": COMPOSE["webserver"]["healthcheck"]["test"][1:],
}
"""What shows that a process works, in a container or outside."""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Path, int]]:
    """Provide the folder of the volumes, and a network with Postgres, in which all services are this machine."""
    folder = tmp_path_factory.mktemp("host")
    (folder / "vetl.toml").write_text(
        '[partner]\nbase_url = "http://127.0.0.1:9"\n' + practice_tables("loc-001", "loc-002"), "utf-8"
    )
    (folder / "hosts").write_text("127.0.0.1 localhost postgres code\n")
    for volume in ("data", "dagster", "audit", "home"):
        (folder / volume).mkdir()
    shutil.copy(published_once(), folder / "data" / "analytics.duckdb")
    for path in (folder / "data", folder / "dagster", folder / "audit", folder / "home"):
        for one in (path, *path.rglob("*")):
            os.chown(one, USER, USER)
    with ExitStack() as stack:
        inside = stack.enter_context(network())
        stack.enter_context(postgres(folder, 5432, inside=inside))
        made = [
            "nsenter",
            f"--net=/proc/{inside}/ns/net",
            "createdb",
            "-h",
            "127.0.0.1",
            "-U",
            "dagster",
            "dagster",
        ]
        subprocess.run(made, env={**os.environ, "PGPASSWORD": "secret"}, check=True)
        yield folder, inside


def filled_in(value: str) -> str:
    """Return a value of compose.yaml as Compose reads it, with the variables of vetl.env."""
    return re.sub(r"\$\{(\w+)(?::[-?]([^}]*))?\}", lambda found: GIVEN.get(found[1], found[2] or ""), str(value))


def service(name: str, folder: Path) -> Given:
    """Return what Compose gives to a service; Dagster's own name for the database is that of the server here."""
    declared = COMPOSE[name]
    environment = {key: filled_in(value) for key, value in declared.get("environment", {}).items()}
    mounts: dict[str, tuple[Path, bool]] = {
        "/etc/hosts": (folder / "hosts", False),
        "/etc/vetl/workspace.yaml": (DEPLOY / "compose/workspace.yaml", False),
        "/var/lib/vetl/dagster/dagster.yaml": (DEPLOY / "compose/dagster.yaml", False),
    }
    for mount in declared.get("volumes", ()):
        source, target, *mode = re.sub(r"\$\{VETL_TOML:-(.*?)\}", r"\1", mount).split(":")
        mounts[target] = folder / source, not mode
    command = declared.get(
        "command", shlex.split("dagster code-server start -h 0.0.0.0 -p 4000 -m vetl.definitions")
    )
    return Given(command, {**image_environment(), **environment}, mounts, declared["tmpfs"])


def unit(path: Path, folder: Path) -> Given:
    """Return what systemd gives to a unit, with the files as docs/deploy-systemd.md installs them."""
    lines = [line.split("=", 1) for line in path.read_text("utf-8").splitlines() if "=" in line]
    told = {key: value for key, value in lines if key != "Environment"}
    variables = [part for key, value in lines if key == "Environment" for part in value.split()]
    environment = dict(part.split("=", 1) for part in variables)
    assert told["User"] == "vetl"
    assert told["ReadWritePaths"] == told["WorkingDirectory"] == "/var/lib/vetl"
    assert told["EnvironmentFile"] == "/etc/vetl/vetl.env"
    return Given(
        shlex.split(told["ExecStart"]),
        {"PATH": "/usr/local/bin:/usr/bin:/bin", **GIVEN, **environment},
        {"/var/lib/vetl": (folder / "home", True), "/etc/vetl": (folder / "etc", False)},
    )


def pod(folder: Path) -> Given:
    """Return what the chart gives to the pod, which has no folder of Dagster's."""
    values = yaml.safe_load((DEPLOY / "helm/values.yaml").read_text("utf-8"))
    [deployment] = values["dagster-user-deployments"]["deployments"]
    environment = {one["name"]: one["value"] for one in deployment["env"]}
    sources = {"settings": folder / "vetl.toml", "data": folder / "data"}
    return Given(
        ["dagster", "code-server", "start", "-h", "0.0.0.0", "-p", "4000", *deployment["codeServerArgs"]],
        {**image_environment(), "DAGSTER_HOME": "/opt/dagster/dagster_home", **GIVEN, **environment},
        {
            mount["mountPath"]: (sources[mount["name"]], not mount.get("readOnly"))
            for mount in deployment["volumeMounts"]
        },
    )


def started(given: Given, check: list[str], host: tuple[Path, int], stack: ExitStack) -> None:
    """Start a command, and wait until its check succeeds as long as it runs."""
    folder, inside = host
    process = stack.enter_context(running(given.line(inside), folder, dict(os.environ)))
    python = [part if part != "python" else "/opt/vetl/bin/python" for part in check]
    said = "nothing"

    def checked() -> bool:
        nonlocal said
        asked = subprocess.run(given.line(inside, python), capture_output=True, text=True, check=False)
        said = asked.stdout[-300:] + asked.stderr[-300:]
        return asked.returncode == 0

    try:
        until("the check", lambda: process.poll() is not None or checked())
    finally:
        print(given.command, said)  # noqa: T201 - shown if the test fails
    assert process.poll() is None, given.command


def test_every_container_becomes_healthy_with_what_compose_gives_it(host: tuple[Path, int]) -> None:
    folder, inside = host
    with ExitStack() as stack:
        for name in VETLS:
            check = HEALTH["code"] if name == "code" else COMPOSE[name]["healthcheck"]["test"][1:]
            started(service(name, folder), check, host, stack)
        given = service("dashboard", folder)
        line = given.line(inside, ["touch", given.environment["VETL_DASHBOARD__AUDIT"]])
        assert subprocess.run(line, check=False).returncode == 0


def test_every_unit_starts_with_what_systemd_gives_it(host: tuple[Path, int]) -> None:
    folder, _ = host
    home, etc = folder / "home", folder / "etc"
    (home / "dagster").mkdir()
    etc.mkdir()
    shutil.copy(folder / "vetl.toml", home)
    shutil.copy(DEPLOY / "dagster.yaml", home / "dagster")
    shutil.copy(DEPLOY / "systemd/workspace.yaml", etc)
    for one in (home, *home.rglob("*")):
        os.chown(one, USER, USER)
    with ExitStack() as stack:
        for path in UNITS:
            started(unit(path, folder), HEALTH[path.stem.removeprefix("vetl-")], host, stack)


def test_the_pod_starts_with_what_the_chart_gives_it(host: tuple[Path, int]) -> None:
    folder, _ = host
    with ExitStack() as stack:
        started(pod(folder), HEALTH["code"], host, stack)
