"""Access: everybody on this machine, and from elsewhere users with the password.

Guessing a password is slow for one sender and delays nobody else.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from board.attempts import Attempts, address_in, network_of
from support.dashboard_pages import Open


def test_with_the_password_alone_the_shared_view_opens(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VETL_DASHBOARD__PASSWORD", "long and secret")
    page = opened("online-booking", period="7")

    assert not page.metric
    assert not page.selectbox
    page.text_input[0].input("wrong")
    page.button[0].click().run()
    assert page.error[0].value == "That is not the password."
    assert not page.metric

    page.text_input[0].input("long and secret")
    page.button[0].click().run()

    assert page.metric
    assert page.selectbox(key="period").value == "7"


def test_a_proxys_header_is_asked_for(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test client sends no header, like a user who bypassed the proxy."""
    monkeypatch.setenv("VETL_DASHBOARD__USER_HEADER", "X-Forwarded-User")
    page = opened("online-booking")

    assert "sign in" in page.error[0].value
    assert not page.metric


@pytest.mark.parametrize("host", ["0.0.0.0", "vetl.example.com"])
def test_it_does_not_start_for_everybody(tmp_path: Path, host: str) -> None:
    (tmp_path / "vetl.toml").write_text('[warehouse]\npublished = "none.duckdb"\n')
    command = [sys.executable, "-m", "vetl", "dashboard", "--host", host]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == 2
    assert re.fullmatch(r"vetl: .*VETL_DASHBOARD__PASSWORD.*\n", done.stderr)


def test_sixty_wrong_ones_do_not_delay_another_sender() -> None:
    attempts = Attempts(now=lambda: 100.0)

    waits = [attempts.wait_for("203.0.113.7") for _ in range(60)]

    assert waits[:8] == [0, 0, 0, 0, 0, 1, 2, None]
    assert set(waits[8:]) == {None}
    assert attempts.wait_for("198.51.100.1") == 0


def test_a_sender_may_try_once_a_second() -> None:
    clock = [0.0]
    attempts = Attempts(now=lambda: clock[0])
    tried = 0
    for second in range(3600):
        clock[0] = float(second)
        tried += sum(attempts.wait_for("203.0.113.7") is not None for _ in range(10))

    assert 3600 <= tried <= 3610


def test_a_flood_of_senders_takes_a_bounded_memory() -> None:
    clock = [0.0]
    attempts = Attempts(now=lambda: clock[0])
    for number in range(25_000):
        clock[0] += 0.001
        attempts.wait_for(str(number))

    assert len(attempts._free_at) <= 10_001  # pyright: ignore[reportPrivateUsage]


def test_one_holder_of_a_network_of_ipv6_is_one_sender() -> None:
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:1")
    assert network_of("2001:db8:0:1::1") != network_of("2001:db8::1")
    assert network_of("::ffff:203.0.113.7") == network_of("203.0.113.7")
    assert network_of("unknown") == "unknown"


@pytest.mark.parametrize(
    ("entry", "address"),
    [
        ("203.0.113.7", "203.0.113.7"),
        (" 203.0.113.7:40112", "203.0.113.7"),
        ("2001:db8::1", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("[2001:db8::1]:443", "2001:db8::1"),
        ("unknown", None),
        ("", None),
    ],
)
def test_a_port_makes_no_other_sender(entry: str, address: str | None) -> None:
    """A proxy that writes the port of each connection made a sender of each: all wrong passwords were judged."""
    assert address_in(entry) == address


def test_made_up_data_is_called_so_on_each_page(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not opened("tasks").info
    monkeypatch.setenv("VETL_DASHBOARD__MADE_UP", "1")

    assert "Made-up practices" in opened("tasks").info[0].value
