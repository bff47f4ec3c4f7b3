"""A small world behind one real socket, reset before each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import vetl_sandbox
from support.platform_and_settings import DAYS, Clinic

LONG = 10 * 365 * 86_400


@pytest.fixture(scope="session")
def server() -> Iterator[vetl_sandbox.Handle]:
    world = vetl_sandbox.World(practices=1, days=DAYS, calls=500, seed=7)
    with vetl_sandbox.running(
        world, frozen=True, switches=vetl_sandbox.Switches(token_lifetime_seconds=LONG)
    ) as handle:
        yield handle


@pytest.fixture
def clinic(server: vetl_sandbox.Handle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clinic:
    server.reset()
    for name in ("username", "password", "role"):
        monkeypatch.setenv(f"VETL_PARTNER__{name.upper()}", getattr(server, name))
    monkeypatch.chdir(tmp_path)
    clinic = Clinic(server, tmp_path / "vetl.toml")
    clinic.configure(zone=clinic.zone)
    return clinic
