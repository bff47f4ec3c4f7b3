"""README and the how-to pages, followed by a reader: an empty folder, a platform, each command of the pages."""

import os
import re
import shlex
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import vetl_sandbox
from support.mart_builds import untested
from support.small_project import small_project
from vetl import bundled
from vetl.cli import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", ROOT / "docs" / "commands.md", *sorted((ROOT / "docs" / "how-to").glob("*.md")))
CODE = re.compile(r"^```\w*\n(?P<block>.*?)^```|`(?P<span>[^`\n]+)`", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r'(?:^|/)vetl (query "[^"]*"|[a-z][^#\n]*)', re.MULTILINE)
PATTERN = re.compile(r"\.\.\.|\bSQL\b|--client ID|\[FILE\]|\bDIGEST\b|\bCOMMAND\b|\bMART\.COLUMN\b|^metric NAME$")
"""Lines of the reference that nobody types."""

SHOWN_ELSEWHERE = {
    "vetl backup": "tests/store/test_backup.py",
    "vetl build": "tests/cli/test_cli_end_to_end.py",
    "vetl build --engine spark": "make spark",
    "vetl dagster dev": "tests/deployed/test_killed_and_backfilled.py",
    "vetl dashboard": "tests/dashboard/test_access.py",
    "vetl dbt ls": "tests/cli/test_cli_usage.py",
    "vetl demo": "tests/cli/test_cli_end_to_end.py",
    "vetl help": "tests/cli/test_cli_usage.py",
    "vetl lake export": "tests/addons/lake/test_lake.py",
    "vetl act": "tests/addons/act/test_act_commands.py",
    "vetl mcp": "tests/addons/assistant/test_assistant.py",
    "vetl reconcile": "tests/cli/test_cli_end_to_end.py",
    "vetl forecast": "tests/addons/forecast/test_command.py",
    "vetl report": "tests/addons/letters/test_report.py",
    "vetl sandbox serve": "tests/cli/test_tutorial.py",
    "vetl status --watch": "tests/cli/test_cli_status.py",
    "vetl watch": "tests/addons/watch/test_watch.py",
    "vetl webhooks serve": "tests/cli/test_tutorial.py",
}
"""Commands that do not end, need more than this platform, or take long, and the tests that run them."""


class Reader:
    """Runs the commands of the pages. `typed` are all commands so far, in the form of the pages."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd
        self.typed = set(SHOWN_ELSEWHERE)

    def types(self, written: str, code: int = 0, *, practice: str = "ID") -> str:
        """Run a command of a page, with the practice's own id instead of `ID`."""
        self.typed.add(written)
        self._capfd.readouterr()
        ended = app.execute([practice if word == "ID" else word for word in shlex.split(written)[1:]])
        out, err = self._capfd.readouterr()
        assert ended == code, (written, out, err)
        return out + err


DAYS = 220


def commands() -> set[str]:
    """Return the commands of these pages, without comments and line breaks."""
    texts = (page.read_text("utf-8") for page in PAGES)
    pieces = (piece["block"] or piece["span"] for text in texts for piece in CODE.finditer(text))
    typed = (match[1] for piece in pieces for match in COMMAND.finditer(piece))
    return {f"vetl {' '.join(arguments.split())}" for arguments in typed if not PATTERN.search(arguments)}


@pytest.fixture(autouse=True)
def _for_the_owner_alone() -> Iterator[None]:
    """As `vetl` itself begins; doctor warns of files that everybody may read."""
    before = os.umask(0o077)
    yield
    os.umask(before)


def test_every_command_of_readme_and_how_to_pages_works(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """In this process, with few models and without dbt's tests; the tutorial has all of them.

    The calls are of both halves of the year, which the doctor needs to know a time zone.
    """
    marts = ("booking_funnel_daily", "booking_request_contacts", "booking_requests", "call_back_list", "practices")
    few = small_project(tmp_path_factory.mktemp("few-models"), *marts)
    monkeypatch.setattr(bundled, "dbt_project", lambda: few)
    for name in [name for name in os.environ if name.startswith("VETL_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    reader = Reader(capfd)
    with untested(), vetl_sandbox.running(practices=1, days=DAYS, calls=10 * DAYS, frozen=True) as platform:
        [practice] = platform.practices
        assert "vetl.toml" in reader.types("vetl init")
        _fill(tmp_path, platform)

        platform.set(appointments={"start": "updated_from"})
        assert "updated_from" in reader.types("vetl doctor", 3)
        reader.types("vetl doctor --write")
        assert "updated_from" in (tmp_path / "vetl.toml").read_text("utf-8")
        reader.types("vetl sync")
        assert _is_quiet(reader.types("vetl build --quiet --log-file vetl.log"))
        assert "certified" in reader.types("vetl run")
        counts = "select endpoint, source_count, warehouse_count, comparison from meta.proof"
        assert "phone_calls" in reader.types(f'vetl query --format vertical "{counts}"')
        for written in sorted(commands() - reader.typed):
            if written.startswith("vetl query"):
                assert "completion_rate" in reader.types(written)
        others = ("publish", "quarantine list", "quarantine retry", "webhooks drain", "act plan", "act status")
        for written in others:
            reader.types(f"vetl {written}")
        for written in ("run", "reconcile"):
            assert _is_quiet(reader.types(f"vetl {written} --quiet --log-file vetl.log"))
        log = (tmp_path / "vetl.log").read_text("utf-8")
        assert all(f"Z {result} " in log for result in ("Built", "Published", "Reconciled", "Synced")), log
        for written in ("vetl run --practice loc-001", "vetl status --practice ID", "vetl status"):
            assert "certified" in reader.types(written, practice=practice.id)

        # Only a publication that replaces an earlier file leaves one for a rollback.
        platform.advance(timedelta(hours=2))
        reader.types("vetl run")
        assert "Rolled back to the file of " in reader.types("vetl publish --rollback")
        assert "--release" in reader.types("vetl status", 3)
        reader.types("vetl publish --release")
        for written in ("backup FOLDER", "restore FOLDER", "reconcile --full"):
            reader.types(f"vetl {written}")
        reader.types("vetl quarantine acknowledge", 2)  # without a reason it is refused
        acknowledge = 'vetl quarantine acknowledge --reason "asked the platform on Monday"'
        assert "no such row" in reader.types(acknowledge, 2)

    assert commands() <= reader.typed


def _is_quiet(output: str) -> bool:
    """Return whether a command with `--quiet` printed only warnings, e.g. about values published as `masked`."""
    return all(line.startswith("warning: ") for line in output.splitlines())


def _fill(folder: Path, platform: vetl_sandbox.Handle) -> None:
    """Carry out steps 2 and 3 of the first practice."""
    [practice] = platform.practices
    settings = folder / "vetl.toml"
    written = settings.read_text("utf-8")
    start = platform.now().date() - timedelta(days=DAYS)
    for name, value in {
        "base_url": f'"{platform.base_url}"',
        "id": f'"{practice.id}"',
        "name": f'"{practice.name}"',
        "time_zone": f'"{practice.time_zone}"',
        "history_start": str(start),
    }.items():
        written, times = re.subn(rf"^{name} = \S.*?$", f"{name} = {value}", written, count=1, flags=re.MULTILINE)
        assert times == 1, name
    settings.write_text(written, "utf-8")
    secrets = folder / ".env"
    lines = secrets.read_text("utf-8")
    for key in ("username", "password", "role"):
        name = f"VETL_PARTNER__{key}".upper()
        lines, times = re.subn(rf"^#? ?{name}=.*$", f"{name}={getattr(platform, key)}", lines, flags=re.MULTILINE)
        assert times == 1, name
    secrets.write_text(lines, "utf-8")
