"""Access: everybody on this machine, and from elsewhere users with the password."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.dashboard_pages import Open


def test_without_the_password_nothing_is_shown(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VETL_DASHBOARD__PASSWORD", "long and secret")
    page = opened("funnel")

    assert not page.metric
    assert not page.selectbox
    page.text_input[0].input("wrong")
    page.button[0].click().run()
    assert page.error[0].value == "That is not the password."
    assert not page.metric


def test_with_the_password_the_shared_view_opens(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VETL_DASHBOARD__PASSWORD", "long and secret")
    page = opened("funnel", period="7")

    page.text_input[0].input("long and secret")
    page.button[0].click().run()

    assert page.metric
    assert page.selectbox(key="period").value == "7"


def test_a_proxys_header_is_asked_for(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test client sends no header, like a user who bypassed the proxy."""
    monkeypatch.setenv("VETL_DASHBOARD__USER_HEADER", "X-Forwarded-User")
    page = opened("funnel")

    assert "sign in" in page.error[0].value
    assert not page.metric


@pytest.mark.parametrize("host", ["0.0.0.0", "vetl.example.com"])
def test_it_does_not_start_for_everybody(tmp_path: Path, host: str) -> None:
    (tmp_path / "vetl.toml").write_text('[warehouse]\npublished = "none.duckdb"\n')
    command = [sys.executable, "-m", "pipelines", "dashboard", "--host", host]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == 2
    assert re.fullmatch(r"vetl: .*VETL_DASHBOARD__PASSWORD.*\n", done.stderr)
