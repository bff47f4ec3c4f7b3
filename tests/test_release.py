"""The requirements of a release: one version, a section of the changelog, valid workflows."""

import re
import runpy
import tarfile
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from support.readme_example import PAGE, PICTURE, digest_of, example, recorded

ROOT = Path(__file__).parent.parent
MAKE = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
CHANGELOG = """# Changelog

## [Unreleased]
- later

## [1.2.0] - 2026-01-31

### Added
- a thing

## [1.1.0] - 2025-12-01
"""


@pytest.fixture(scope="module")
def section() -> Callable[[str, str], str]:
    return runpy.run_path(str(ROOT / "deploy" / "release" / "__main__.py"))["section"]


def test_the_picture_in_readme_shows_the_demo_of_the_answer_beside_it() -> None:
    """`make answers` makes both. `make release` runs it, and stops if one of them is new and not committed."""
    _, answer = example(PAGE.read_text("utf-8"))

    assert recorded(PICTURE.read_bytes())[0] == digest_of(answer)
    assert "release: answers " in (ROOT / "Makefile").read_text("utf-8")


@pytest.mark.parametrize("version", ["1.1.0", "1.0.0", "1.2"])
def test_a_version_without_a_section_in_the_changelog_is_not_released(
    version: str, section: Callable[[str, str], str]
) -> None:
    with pytest.raises(SystemExit, match=re.escape(f"## [{version}]")):
        section(CHANGELOG, version)


@pytest.mark.parametrize(
    "workflow", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem
)
def test_a_workflow_makes_only_existing_targets(workflow: Path) -> None:
    text = workflow.read_text("utf-8")
    made = set(re.findall(r"run: make (\w+)", text))

    assert made
    assert made <= MAKE
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}


def test_each_supported_python_is_tested_and_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    supported = [
        name.rsplit(" ", 1)[1] for name in project["classifiers"] if re.search(r"Python :: 3\.\d+$", name)
    ]
    release = runpy.run_path(str(ROOT / "deploy" / "release" / "__main__.py"))
    matrix = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))

    assert list(release["TRIED"]) == supported
    assert matrix["jobs"]["test"]["strategy"]["matrix"]["python"] == supported


def test_a_source_archive_with_a_file_outside_git_is_reported(tmp_path: Path) -> None:
    beside_git = runpy.run_path(str(ROOT / "deploy" / "release" / "__main__.py"))["beside_git"]
    archive = tmp_path / "vetl-1.0.tar.gz"
    with tarfile.open(archive, "w:gz") as content:
        for name in ("README.md", "PKG-INFO", "warehouse/data/vetl.duckdb"):
            (tmp_path / "file").write_text(name)
            content.add(tmp_path / "file", f"vetl-1.0/{name}")

    assert beside_git(archive, {"README.md", "LICENSE"}) == ["warehouse/data/vetl.duckdb"]
