"""A private file with damaged bytes: each command ends with one line and no traceback."""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
import vetl_sandbox
from support.practice_site import write_settings
from support.sandbox_settings import credentials
from vetl.cli.app import execute

DAYS = 10
PLAIN = ("sync", "reconcile", "publish", "lake export", "quarantine list", "quarantine retry", "webhooks drain")
COMMANDS = (*(line.split() for line in PLAIN), ["query", "--private", "from raw.phone_calls"])
HEADERS = 12_288
"""Bytes that locate the blocks; their damage is found when the file is opened."""


def at_random(content: bytes, rng: Random) -> bytes:
    return rng.randbytes(len(content))


def cut_off(content: bytes, rng: Random) -> bytes:
    return content[: rng.randrange(len(content))]


def flipped(content: bytes, rng: Random) -> bytes:
    damaged = bytearray(content)
    for _ in range(rng.choice((5, 400))):
        damaged[rng.randrange(HEADERS, len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Make a folder with settings, after a first sync; its platform still answers."""
    folder = tmp_path_factory.mktemp("synced")
    with (
        vetl_sandbox.running(practices=1, days=DAYS, calls=300, seed=5, frozen=True) as platform,
        pytest.MonkeyPatch.context() as patch,
    ):
        files = "[warehouse]\npath = 'vetl.duckdb'\npublished = 'analytics.duckdb'\n[lake]\npath = 'lake'"
        write_settings(folder, platform, practices=1, days=DAYS, more=files)
        for name, value in credentials(platform).items():
            patch.setenv(name, value)
        patch.chdir(folder)
        assert execute(["sync"]) == 0
        yield folder


@pytest.mark.parametrize(("damage", "seed"), [(at_random, 0), (cut_off, 1), (flipped, 0), (flipped, 1)])
def test_every_command_ends_with_one_line(
    synced: Path, damage: Callable[[bytes, Random], bytes], seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command that does not read the damaged bytes may succeed; vetl never repairs a file by guessing."""
    file = synced / "vetl.duckdb"
    whole = file.read_bytes()
    damaged = damage(whole, Random(seed))
    try:
        for command in COMMANDS:
            file.write_bytes(damaged)
            code = execute(command)
            said = capsys.readouterr().err
            assert "internal error" not in said, (command, said)
            assert code in (0, 1, 3), (command, said)
            if damage is at_random:
                assert code == 1
                assert "vetl.duckdb" in said.splitlines()[-1], command
    finally:
        file.write_bytes(whole)
        file.with_name("vetl.duckdb.wal").unlink(missing_ok=True)
