"""Each file of deploy/ is accepted by its program (`make test-deploy`, which installs these programs)."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
SECRETS = {
    **dict.fromkeys(("VETL_PARTNER__USERNAME", "VETL_PARTNER__PASSWORD", "VETL_PARTNER__ROLE"), "x"),
    **dict.fromkeys(("VETL_WEBHOOKS__SECRETS", "DAGSTER_PG_PASSWORD", "VETL_ADMIN_HASH"), "x"),
    "VETL_HOST": "vetl.example.com",
}


def accepted(command: Sequence[str], environment: dict[str, str] | None = None, cwd: Path = DEPLOY) -> str:
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **(environment or {})}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    assert accepted([str(Path(sys.executable).with_name("hadolint")), "Dockerfile"]) == ""


def test_docker_compose_reads_the_file_and_names_missing_variables(tmp_path: Path) -> None:
    """Debian's version is older than the field `name`."""
    copy = tmp_path / "compose.yaml"
    copy.write_text((DEPLOY / "compose.yaml").read_text("utf-8").replace("name: vetl\n", "", 1))
    command = ["docker-compose", "--file", str(copy), "--project-directory", str(DEPLOY), "config"]
    resolved = yaml.safe_load(accepted(command, SECRETS))

    assert resolved["services"]["code"]["environment"]["VETL_PARTNER__USERNAME"] == "x"
    for name in SECRETS:
        without = {key: value for key, value in {**os.environ, **SECRETS}.items() if key != name}
        refused = subprocess.run(command, cwd=DEPLOY, env=without, capture_output=True, check=False)
        assert refused.returncode != 0
        assert b"set it in vetl.env" in refused.stderr


def test_caddy_takes_the_proxys_file(tmp_path: Path) -> None:
    """Debian's caddy is older than the image's, and uses the older spelling of one directive."""
    text = (DEPLOY / "compose/Caddyfile").read_text("utf-8").replace("basic_auth {", "basicauth {")
    (tmp_path / "Caddyfile").write_text(text)
    # a bcrypt hash of an unused word
    digest = "$2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT/5qqR7hx4IjWJPDhjvG"
    given = {"VETL_HOST": "vetl.example.com", "VETL_ADMIN": "admin", "VETL_ADMIN_HASH": digest}

    accepted(["caddy", "validate", "--adapter", "caddyfile", "--config", str(tmp_path / "Caddyfile")], given)


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    """The units name programs of a server; this copy names those of this environment."""
    programs = str(Path(sys.executable).parent)
    for unit in (*(DEPLOY / "systemd").glob("*.service"), DEPLOY / "systemd/vetl.target"):
        (tmp_path / unit.name).write_text(unit.read_text("utf-8").replace("/opt/vetl/bin", programs))

    units = sorted(path.name for path in tmp_path.iterdir())
    output = accepted(["systemd-analyze", "verify", "--man=no", *units], cwd=tmp_path)
    assert not [line for line in output.splitlines() if line.startswith("vetl") or str(tmp_path) in line]
