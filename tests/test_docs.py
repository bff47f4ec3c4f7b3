"""Every command, setting, table and mart is documented on the page where users look for it."""

import re
import tomllib
from pathlib import Path

import pytest
from support.every_command import every_command
from vetl.core.published_file import DIGESTS, schema_of
from vetl.endpoints import REGISTRY
from vetl.figures.catalogue import tables_by_subject
from vetl.publishing.descriptions import personal_columns

ROOT = Path(__file__).parent.parent
COMMANDS = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
WAREHOUSE = (ROOT / "warehouse" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", every_command())
def test_every_command_is_in_the_table_of_commands(command: str) -> None:
    assert re.search(rf"`vetl {command}\b", COMMANDS)


@pytest.mark.parametrize("table", [f"raw.{endpoint.table}" for endpoint in REGISTRY])
def test_every_raw_table_is_described_for_analysts(table: str) -> None:
    assert f"`{table}`" in WAREHOUSE


@pytest.mark.parametrize("mart", sorted(personal_columns(ROOT / "dbt")))
def test_every_mart_is_described_for_analysts(mart: str) -> None:
    assert f"`{schema_of(mart)}.{mart}`" in WAREHOUSE


def test_each_published_table_stands_once_in_the_list_by_subject_and_eight_come_first() -> None:
    listed = tables_by_subject()
    assert sorted(table for _, table, _ in listed) == sorted([*personal_columns(ROOT / "dbt"), DIGESTS])
    assert [subject for subject, _, _ in listed].index(listed[8][0]) == 8


PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "warehouse" / "README.md", *ROOT.glob("docs/*.md")]
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_no_file_that_is_not_there(page: Path) -> None:
    named = set(
        re.findall(r"`((?:docs|pipelines|sandbox|warehouse|dbt|tests)/[\w./-]+)`", page.read_text("utf-8"))
    )
    generated = {name for name in named if name.endswith((".duckdb", ".sqlite"))}
    assert [name for name in sorted(named - generated) if not (ROOT / name).exists()] == []


def test_each_promise_of_security_names_a_test_that_is_there() -> None:
    text = (ROOT / "docs" / "security.md").read_text("utf-8")
    promised = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    tables = re.findall(r"^\| [^|\n]+ \| shown by \|\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    rows = [row for table in tables for row in table.splitlines()]
    assert [row for row in rows if not re.search(r"\| `tests/[\w/]+\.py::\w+`[^|]* \|$", row)] == []
    assert text.count("| shown by |") == len(tables)
    assert len(promised) > len(rows) > 50
    gone = [
        f"{file}::{name}"
        for file, name in promised
        if not (ROOT / file).exists() or f"def {name}(" not in (ROOT / file).read_text("utf-8")
    ]
    assert gone == []


def test_each_row_of_the_faults_names_a_test_that_is_there() -> None:
    text = (ROOT / "docs" / "faults.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 20
    for row in rows:
        message, exit_code, tests = (cell.strip() for cell in row.strip().strip("|").split("|")[-3:])
        assert exit_code in ("", "0", "1", "2", "3"), row
        assert (exit_code in ("1", "2", "3")) <= bool(message), f"an exit without a line: {row}"
        named = re.findall(r"`([\w/]+(?:\.py|/))(?:::(\w+))?`", tests)
        assert named, f"no test: {row}"
        for file, test in named:
            path = ROOT / (file if "/" in file else f"tests/e2e/{file}")
            assert path.exists(), (file, test)
            assert not test or f"def {test}(" in path.read_text("utf-8"), (file, test)


def test_decisions_are_one_series_and_listed_with_their_status() -> None:
    folder = ROOT / "docs" / "decisions"
    pages = sorted(folder.glob("0*.md"))
    lines: list[str] = []
    for number, page in enumerate(pages, 1):
        head, _, status, *_ = page.read_text("utf-8").splitlines()
        assert head.startswith(f"# {number}. "), page.name
        assert re.match(rf"{number:04}-", page.name), page.name
        assert re.match(r"Status: (holds|superseded by \[)", status), page.name
        title = head.removeprefix(f"# {number}. ")
        lines.append(f"| {number} | [{title}]({page.name}) | {status.removeprefix('Status: ')} |")
        linked = re.findall(r"\]\(([^)]+)\)", status)
        assert [name for name in linked if not (folder / name).exists()] == []

    assert set(folder.glob("*.md")) - set(pages) == {folder / "README.md"}
    table = (folder / "README.md").read_text("utf-8").splitlines()
    assert table[-len(lines) :] == lines


NAV = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]["nav"]
LOOKED_UP = {page for part in NAV for entry in part.get("Reference", []) for page in entry.values()}
"""The pages that one looks things up in; the others are read."""


def test_what_one_reads_has_at_most_30_000_words() -> None:
    docs = [page for page in ROOT.glob("docs/**/*.md") if "decisions" not in page.parts]
    read = [page for page in docs if str(page.relative_to(ROOT / "docs")) not in LOOKED_UP]
    assert {"faults.md", "sandbox.md", "commands.md"} < LOOKED_UP
    texts = [page.read_text("utf-8") for page in (*read, ROOT / "README.md", ROOT / "CONTRIBUTING.md")]
    assert sum(len(text.split()) for text in texts) <= 30_000


def locked(*locks: str) -> int:
    """Return how many packages the locks name."""
    texts = ((ROOT / f"requirements.{lock}").read_text("utf-8") for lock in locks)
    return len({name for text in texts for name in re.findall(r"^([a-z][\w.-]*)", text, re.MULTILINE)})


@pytest.mark.parametrize(
    ("sentence", "number"),
    [
        (r"vetl and (\d+) packages", locked("run.lock")),
        (r"tools for\s+the tests: (\d+) packages", locked("lock", "built.lock", "uv.lock")),
    ],
)
def test_the_number_of_packages_is_that_of_the_locks(sentence: str, number: int) -> None:
    found = re.findall(sentence, (ROOT / "docs" / "install.md").read_text("utf-8"))
    assert found == [str(number)]


MEASURED = re.compile(r"\b\d[\d,.]* (?:ms|s|MB|GB|MiB|GiB|packages)\b(?! of the practice)")
LIMITS = {
    "docs/faults.md": {"8 MiB", "300 s"},
    "docs/lossless.md": {"60 s"},
    "docs/postgres.md": {"60 s"},
    "docs/sandbox.md": {"3 s", "90 s", "2 s", "4 s"},
    "docs/scale.md": {"500 MB", "200 MB", "5 GB"},
    "docs/security.md": {"1 GiB"},
    "docs/webhooks.md": {"1 MiB", "2 MiB"},
}
"""Limits that the code sets, and the memory to plan with."""


def test_a_measured_number_stands_beside_its_command() -> None:
    """Pages link to docs/performance.md, whose tables have the command of each number."""
    pages = [page for page in (*PAGES, *ROOT.glob("docs/how-to/*.md")) if page.name != "performance.md"]
    found = {str(page.relative_to(ROOT)): set(MEASURED.findall(page.read_text("utf-8"))) for page in pages}
    install = found["docs/install.md"]
    assert {text.split()[1] for text in install} == {"packages"}  # counted by the test above
    found["docs/install.md"] = set()
    assert {name: texts for name, texts in found.items() if texts} == LIMITS
