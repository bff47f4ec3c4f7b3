"""The users of `[dashboard.users]` ask `vetl mcp` about their practices alone, over HTTP and over stdio."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.assistant import VETL
from support.processes import free_port
from vetl.cli import app

TOKENS = {"anna": "f3Kq9-anna-71xW-pd", "boss": "Zt5-boss-08Lm-qe2"}
USERS = """
[partner]
base_url = "http://127.0.0.1:9"
[dashboard.users.anna]
practices = ["loc-002"]
[dashboard.users.boss]
all = true
[dashboard.users.ben]
groups = ["none"]
[[practices]]
id = "loc-002"
name = "Two"
time_zone = "America/New_York"
history_start = 2025-01-01
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("users")
    (folder / "vetl.toml").write_text(USERS, "utf-8")
    return folder


@pytest.fixture(scope="module")
def address(site: Path, stale: Path) -> Iterator[str]:
    port = free_port()
    variables = {"VETL_ASSISTANT__TOKENS": ",".join(f"{name}={token}" for name, token in TOKENS.items())}
    command = [*VETL, "-C", str(site), "mcp", "--file", str(stale), "--http", "--port", str(port)]
    with subprocess.Popen(command, env={**os.environ, **variables}, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stderr
            assert "serving" in running.stderr.readline()
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            running.terminate()


def asked(address: str, token: str, **arguments: Any) -> httpx.Response:
    """Ask as a client of HTTP does, once the server listens."""
    call = {"name": "ask", "arguments": {"metric": "calls", "by": ["practice"], **arguments}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    transport = httpx.HTTPTransport(retries=8)
    with httpx.Client(transport=transport, timeout=60) as client:
        return client.post(address, json=body, headers=headers)


def practices_of(answer: httpx.Response) -> list[str]:
    return [row[0] for row in answer.json()["result"]["structuredContent"]["rows"]]


def test_over_http_each_user_sees_their_practices_alone(address: str) -> None:
    answers = {name: practices_of(asked(address, token)) for name, token in TOKENS.items()}
    other = asked(address, TOKENS["anna"], where=["practice=loc-001"])

    assert answers == {"anna": ["loc-002"], "boss": ["loc-001", "loc-002", "loc-003"]}
    assert "loc-001" not in json.dumps(other.json()["result"].get("structuredContent", {}).get("rows", []))
    assert asked(address, "anna").status_code == 401
    assert asked(address, f"{TOKENS['anna']}x").status_code == 401


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ("", "--http needs a token for each of dashboard.users: set VETL_ASSISTANT__TOKENS"),
        (f"carl={TOKENS['anna']}", "VETL_ASSISTANT__TOKENS: dashboard.users has no carl"),
        ("anna=short-9kq", "that of anna must have 16 characters or more"),
    ],
)
def test_tokens_of_nobody_start_no_server(
    tokens: str,
    message: str,
    site: Path,
    stale: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(site)
    monkeypatch.setenv("VETL_ASSISTANT__TOKEN", TOKENS["boss"])
    monkeypatch.setenv("VETL_ASSISTANT__TOKENS", tokens)

    assert app.execute(["mcp", "--file", str(stale), "--http"]) == 2

    assert message in capsys.readouterr().err
