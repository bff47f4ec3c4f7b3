"""The files of a deployment agree: named files exist, secrets are required, one step writes at a time."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from dagster._core.instance.config import dagster_instance_config
from vetl.settings import environment_only

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
HELM: dict[str, Any] = yaml.safe_load((DEPLOY / "helm/values.yaml").read_text("utf-8"))
VETLS = ("code", "webserver", "daemon", "receiver", "dashboard")
"""Return the containers of vetl's own image."""


def instance_settings(file: str, folder: Path) -> dict[str, Any]:
    """Read the file as Dagster does, which refuses unknown keys."""
    (folder / "dagster.yaml").write_text((DEPLOY / file).read_text("utf-8"))
    return dict(dagster_instance_config(str(folder))[0])


@pytest.mark.parametrize("file", ["dagster.yaml", "compose/dagster.yaml"])
def test_dagster_takes_its_settings_and_lets_one_step_write(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOST", "USER", "PASSWORD", "DB"):
        monkeypatch.setenv(f"DAGSTER_PG_{name}", "x")

    settings = instance_settings(file, tmp_path)

    assert settings["concurrency"]["pools"] == {"granularity": "op", "default_limit": 1}
    assert settings["telemetry"] == settings["nux"] == {"enabled": False}
    assert settings["run_monitoring"]["enabled"]


def test_the_image_copies_existing_files_and_runs_without_root() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)

    assert [name for line in copied for name in line.split() if not (ROOT / name).exists()] == []
    assert re.findall(r"^USER (\S+)$", DOCKERFILE, re.MULTILINE)[-1] == "10001"
    assert DOCKERFILE.count("\nHEALTHCHECK ") == 1
    assert all("slim" in image for image in re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE))


LOCKS = sorted([*ROOT.glob("*.lock"), *ROOT.glob("tools/*.lock")])


@pytest.mark.parametrize("file", LOCKS, ids=lambda file: file.name)
def test_every_package_of_a_lock_is_pinned_and_hashed(file: Path) -> None:
    entries = re.split(r"\n(?=\S)", file.read_text("utf-8").strip())

    assert entries
    assert [
        entry for entry in entries if not re.match(r"[\w.\[\],-]+==\S+", entry) or "--hash=sha256:" not in entry
    ] == []


def test_whatever_is_installed_is_installed_by_its_hash_or_is_vetl_itself() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for name in ("LOCKED", "UV"):
        (value,) = re.findall(rf"^{name} *:= (.+)$", makefile, re.MULTILINE)
        makefile = makefile.replace(f"$({name})", value)
    installs = re.findall(r"pip install((?:[^\n&]|\\\n)*)", makefile.partition(":=")[2] + DOCKERFILE)
    used = [
        line for line in installs if "requirement" in line or "-r " in line or "editable" in line or " ." in line
    ]

    assert len(used) > 6
    others = [line for line in used if "--require-hashes" not in line and "--dry-run" not in line]
    assert all("--no-deps" in line and "--no-build-isolation" in line for line in others)


def test_images_and_actions_are_named_by_what_they_hold() -> None:
    """A tag can be moved to something else by whoever owns it."""
    images = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    images += [
        service["image"] for service in COMPOSE["services"].values() if "VETL_IMAGE" not in service["image"]
    ]
    workflows = "".join(file.read_text("utf-8") for file in ROOT.glob(".github/workflows/*.yml"))
    actions = re.findall(r"uses: (\S+)", workflows)

    assert len(images) > 3
    assert len(actions) > 5
    assert [image for image in images if not re.search(r"@sha256:[0-9a-f]{64}$", image)] == []
    assert [action for action in actions if not re.search(r"@[0-9a-f]{40}$", action)] == []


def test_the_packages_that_pip_chose_are_taken_from_the_lock(tmp_path: Path) -> None:
    lock = ROOT / "requirements.lock"
    report = tmp_path / "chosen.json"

    def locked(*names: str) -> "subprocess.CompletedProcess[str]":
        report.write_text(json.dumps({"install": [{"metadata": {"name": name}} for name in names]}))
        command = [sys.executable, str(DEPLOY / "locked.py"), str(report), str(lock)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    chosen = locked("vetl-warehouse", "Dagster_DG-CLI", "uvicorn")
    assert re.findall(r"^([\w-]+)[\[=]", chosen.stdout, re.MULTILINE) == ["dagster-dg-cli", "uvicorn"]
    assert chosen.stdout.count("--hash=") >= 2
    assert "not in the lock: unheard-of" in locked("unheard-of").stderr


def test_the_image_gets_all_inputs_of_the_wheel() -> None:
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8")
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    hatch = project["tool"]["hatch"]
    bundled = [*hatch["build"]["targets"]["wheel"]["force-include"], hatch["metadata"]["hooks"]["custom"]["path"]]

    assert len(bundled) > 1
    assert set(bundled) <= {name for line in copied for name in line.split()}
    assert [name for name in bundled if f"!{name}" not in ignored] == []


@pytest.mark.parametrize(
    ("variables", "source"),
    [({}, None), ({"SOURCE_URL": "https://example.com/vetl/"}, "https://example.com/vetl")],
)
def test_the_package_names_the_repository_that_released_it(variables: dict[str, str], source: str | None) -> None:
    environment = {**{name: value for name, value in os.environ.items() if name != "SOURCE_URL"}, **variables}
    command = [sys.executable, "-m", "hatchling", "metadata"]
    metadata = json.loads(
        subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True).stdout
    )

    assert metadata.get("urls", {}).get("Source") == source


def test_only_the_code_location_and_the_receiver_write_the_data() -> None:
    mounts = {
        name: [mount for mount in service.get("volumes", ()) if mount.startswith("data:")]
        for name, service in COMPOSE["services"].items()
    }

    assert [name for name, volumes in mounts.items() if volumes and not volumes[0].endswith(":ro")] == [
        "code",
        "receiver",
    ]
    assert mounts["dashboard"] == ["data:/var/lib/vetl/warehouse/data:ro"]
    assert mounts["webserver"] == mounts["daemon"] == []


def test_no_secret_stands_in_a_file_that_is_deployed() -> None:
    secrets = [
        f"VETL_{section}__{key}".upper().replace(".", "__")
        for section, keys in environment_only().items()
        for key in keys
    ]
    # Installing the project runs a build hook of deploy/release, and Python leaves its bytecode beside it.
    for file in (path for path in DEPLOY.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        text = file.read_text("utf-8")
        assert [name for name in secrets if re.search(rf"(?<!{{){name}[=:] *[^\s${{]", text)] == [], file


def test_in_kubernetes_runs_stay_in_the_pod_that_has_the_volume() -> None:
    launcher = HELM["runLauncher"]
    [deployment] = HELM["dagster-user-deployments"]["deployments"]

    assert launcher["type"] == "CustomRunLauncher"
    assert launcher["config"]["customRunLauncher"]["class"] == "DefaultRunLauncher"
    assert HELM["concurrency"]["pools"] == {"defaultLimit": 1, "granularity": "op"}
    assert {volume["name"] for volume in deployment["volumes"]} == {
        mount["name"] for mount in deployment["volumeMounts"]
    }
    assert deployment["podSecurityContext"]["runAsNonRoot"]
    assert "replicaCount" not in deployment
    assert deployment["deploymentStrategy"] == {"type": "Recreate"}


def test_every_container_is_healthy_or_known_not_to_be_and_only_the_proxy_is_reachable() -> None:
    services = COMPOSE["services"]

    assert {name for name, service in services.items() if "ports" in service} == {"proxy"}
    # `code` has the health check of the image.
    assert {name for name, service in services.items() if "healthcheck" not in service} == {"code", "proxy"}
    for name in VETLS:
        assert services[name]["read_only"]
        assert services[name]["cap_drop"] == ["ALL"]
