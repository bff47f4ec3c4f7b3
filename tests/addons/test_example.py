"""The addon of docs/addons.md, installed as a package by its entry point."""

import inspect
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from pluggy import PluginManager
from support.published import published_once
from vetl import hooks
from vetl.core.errors import VetlError

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "addons.md").read_text("utf-8")


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Provide a folder of packages with the addon."""
    folder = tmp_path / "packages"
    about = folder / "tally-1.0.dist-info"
    about.mkdir(parents=True)
    [code] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    [project] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    entries = tomllib.loads(project)["project"]["entry-points"]["vetl"]
    (folder / "tally.py").write_text(code, "utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tally\nVersion: 1.0\n", "utf-8")
    (about / "entry_points.txt").write_text(
        "[vetl]\n" + "".join(f"{name} = {place}\n" for name, place in entries.items()), "utf-8"
    )
    return folder


def vetl(folder: Path, packages: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    command = [sys.executable, "-m", "vetl", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_it_brings_a_command_a_section_and_a_part_of_the_status(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "vetl.toml").write_text("[tally]\nfewest = 5\nfile = 'calls.txt'\n", "utf-8")

    assert "  tally " in vetl(tmp_path, installed, "--help").stdout
    (tmp_path / "calls.txt").write_text("7 calls", "utf-8")
    assert vetl(tmp_path, installed, "tally").stdout == "7 calls\n"


def test_it_uses_a_new_published_file_and_shows_its_problem(installed: Path, tmp_path: Path) -> None:
    script = """
import json
from datetime import UTC, datetime
from pathlib import Path
from vetl import hooks
from vetl.jobs.backups import kept_files
from vetl.settings import load_settings
settings = load_settings()
lines = list(hooks.after_publication(settings))
parts = {part.name: part for part in hooks.problems(settings, None, datetime.now(UTC))}
print(json.dumps([
    lines[-1], parts["tally"].content, [problem.line for problem in parts["tally"].problems],
    [name for name in kept_files(settings) if name == "tally"],
]))
"""
    published = published_once()
    (tmp_path / "vetl.toml").write_text(
        f"[tally]\nfewest = 1000000\n[warehouse]\npublished = '{published}'\n[watch]\nthresholds = []\n", "utf-8"
    )
    (tmp_path / "warehouse" / "data").mkdir(parents=True)
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    said, content, problems, files = json.loads(done.stdout)

    assert said == f"tally: {content['calls']} calls"
    assert content["calls"] > 100
    assert problems == [f"only {content['calls']} calls are published"]
    assert files == ["tally"]


def test_a_mistake_in_its_section_and_a_clash_of_its_file_are_one_line(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "vetl.toml").write_text("[tally]\nfewst = 5\n", "utf-8")
    assert "unknown key tally.fewst; did you mean fewest?" in vetl(tmp_path, installed, "tally").stderr
    (tmp_path / "vetl.toml").write_text("[tally]\nfile = 'warehouse/data/inbox.sqlite'\n", "utf-8")
    assert "must be different places" in vetl(tmp_path, installed, "tally").stderr


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("import nothing_of_this_name\n", "No module named 'nothing_of_this_name'"),
        ("from vetl.hooks import addon\n@addon\ndef after_publicaton(): ...\n", "unknown hook 'after_publicaton'"),
    ],
)
def test_one_that_cannot_be_loaded_is_one_line(code: str, line: str, installed: Path, tmp_path: Path) -> None:
    (installed / "tally.py").write_text(code, "utf-8")

    done = vetl(tmp_path, installed, "--help")

    assert done.returncode == 2
    assert done.stderr.startswith(f"vetl: the addon tally cannot be loaded: {line}")
    assert done.stderr.count("\n") == 1


def test_an_error_after_a_publication_stops_no_other_addon(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing:
        @hooks.addon
        def after_publication(self) -> list[str]:
            raise FileNotFoundError(2, "No such file or directory", "calls.txt")

    class Counting:
        @hooks.addon
        def after_publication(self, settings: object) -> list[str]:
            return [f"counted {settings}"]

    manager = PluginManager(hooks.GROUP)
    manager.add_hookspecs(hooks.Hooks)
    manager.register(Failing(), "failing")
    manager.register(Counting(), "counting")
    monkeypatch.setattr(hooks, "_manager", lambda: manager)
    said: list[str] = []

    with pytest.raises(VetlError, match=r"^the addon failing failed: calls\.txt: No such file or directory$"):
        said.extend(hooks.after_publication("all"))
    assert said == ["counted all"]


def test_the_page_has_each_hook_with_its_arguments() -> None:
    written = dict(re.findall(r"^\| `(\w+)\((.*?)\)` \|", PAGE, re.MULTILINE))
    specified = {
        name: ", ".join(list(inspect.signature(hook).parameters)[1:])
        for name, hook in vars(hooks.Hooks).items()
        if not name.startswith("_")
    }

    assert written == specified
