"""The documentation as a site: every page is in its navigation, every link leads somewhere."""

import re
import runpy
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the site is built from."""
    write_pages: Callable[[Path], None] = runpy.run_path(str(ROOT / "deploy" / "site" / "__main__.py"))[
        "write_pages"
    ]
    target = tmp_path_factory.mktemp("site") / "docs"
    write_pages(target)
    return target


def in_navigation(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        for target in entry.values():
            if isinstance(target, str):
                yield target
            else:
                yield from in_navigation(target)


def anchors(page: Path) -> set[str]:
    """The ids of a page's headings, as the site makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip()) for heading in headings}


def test_every_page_is_in_the_navigation_and_every_entry_is_a_page(site: Path) -> None:
    project = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]
    listed = list(in_navigation(project["nav"]))
    pages = {str(page.relative_to(site)) for page in site.rglob("*.md")}
    decisions = {page for page in pages if page.startswith("decisions/") and page != "decisions/index.md"}

    assert len(listed) == len(set(listed))
    assert set(listed) == pages - decisions


def test_every_link_leads_to_a_page_and_to_a_heading_of_it(site: Path) -> None:
    broken: list[str] = []
    for page in sorted(site.rglob("*.md")):
        for match in LINK.finditer(CODE.sub("", page.read_text("utf-8"))):
            target, _, heading = (match[1] or match[2]).partition("#")
            if target.startswith(("http:", "https:", "mailto:")):
                continue
            there = (page.parent / target).resolve() if target else page
            if not there.is_relative_to(site) or not there.exists():
                broken.append(f"{page.relative_to(site)}: {target}")
            elif heading and heading not in anchors(there):
                broken.append(f"{page.relative_to(site)}: {target}#{heading}")
    assert broken == []


def test_every_metric_is_listed_with_its_description(site: Path) -> None:
    named = {
        name
        for path in (ROOT / "dbt" / "models" / "metrics").glob("*.yml")
        for name in _metrics(yaml.safe_load(path.read_text("utf-8")))
    }
    page = (site / "reference" / "metrics.md").read_text("utf-8")

    assert len(named) > 20
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == named
    assert not re.search(r"\|\s*\|$", page, re.MULTILINE)


def _metrics(content: dict[str, Any]) -> Iterator[str]:
    yield from (metric["name"] for metric in content.get("metrics", ()))
    for model in content.get("semantic_models", ()):
        yield from (measure["name"] for measure in model.get("measures", ()) if measure.get("create_metric"))
