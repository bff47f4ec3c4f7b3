"""Docstrings, comments and pages in plain English, counted by five words per 1,000.

Comparable projects (httpx, sqlite-utils, gidgethub, Meltano's SDK) have 0.2 to 2.8 `where`, 0 to 0.1 `tell`,
0 to 2.5 `what`, no `anew` and 7 to 13 `if` or `when`. More of the first four, or fewer of the last, are signs of
sentences that are hard to read: `where` for `if`, `what is read` for the name of a thing.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
Line = tuple[str, int, str]
"""The path of a file, the number of a line, and the prose in it."""

WORDS = {
    "where": re.compile(r"\bwhere\b"),
    "tell": re.compile(r"\b(?:tell|tells|told)\b"),
    "what": re.compile(r"\bwhat\b"),
    "anew": re.compile(r"\banew\b"),
}
MOST = {"where": 2.8, "tell": 0.3, "what": 2.5, "anew": 0.0}
"""The most of each word per 1,000 words."""

IF_OR_WHEN = re.compile(r"\b(?:if|when)\b")
LEAST_CONDITIONS = 5.0
"""The least "if" and "when" per 1,000 words of vetl."""


def python_lines(module: Path) -> Iterator[tuple[int, str]]:
    """Yield each line of a module's docstrings and comments."""
    source = module.read_text("utf-8")
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield from enumerate(text.splitlines(), node.lineno)
            case _:
                pass
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string[1:]


def page_lines(page: Path) -> Iterator[tuple[int, str]]:
    """Yield each line of a page outside its blocks of code."""
    is_code = False
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        if line.startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield number, line


@cache
def prose(package: str) -> tuple[Line, ...]:
    """Return the lines of prose of a package, without code in backticks."""
    folder = ROOT / package
    if package.startswith("docs"):
        files = [(path, page_lines(path)) for path in sorted(folder.glob("*.md"))]
    elif package == "pipelines/vetl":
        files = [(path, python_lines(path)) for path in sorted(folder.glob("*.py"))]
    else:
        files = [(path, python_lines(path)) for path in sorted(folder.rglob("*.py"))]
    return tuple(
        (str(path.relative_to(ROOT)), number, re.sub(r"`[^`]*`", "", text).strip())
        for path, lines in files
        for number, text in lines
    )


def packages() -> list[str]:
    """Return the packages that are counted one by one."""
    parts = [
        f"pipelines/vetl/{path.name}" for path in sorted((ROOT / "pipelines" / "vetl").iterdir()) if path.is_dir()
    ]
    python = [part for part in parts if prose(part)]
    return [
        "pipelines/vetl",
        *python,
        "sandbox",
        "tests",
        "dashboards",
        "benchmarks",
        "deploy",
        "fuzz",
        "docs",
        "docs/decisions",
    ]


def size(lines: tuple[Line, ...]) -> int:
    """Return the number of words of these lines."""
    return sum(len(re.findall(r"[a-z']+", text.lower())) for _, _, text in lines)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("package", packages())
def test_a_package_is_written_in_plain_english(package: str, word: str) -> None:
    lines = prose(package)
    uses = [(len(WORDS[word].findall(text.lower())), path, number, text) for path, number, text in lines]
    rate = 1000 * sum(use[0] for use in uses) / max(size(lines), 1)
    most = MOST[word]
    worst = sorted((use for use in uses if use[0]), key=lambda use: -use[0])[:10]
    shown = "\n".join(f"  {path}:{number}: {text}" for _, path, number, text in worst)

    assert rate <= most, f'{package} has {rate:.2f} "{word}" per 1,000 words, at most {most} are allowed:\n{shown}'


def test_conditions_begin_with_if_or_when() -> None:
    lines = tuple(line for package in packages() if package.startswith("pipelines") for line in prose(package))
    rate = 1000 * sum(len(IF_OR_WHEN.findall(text.lower())) for _, _, text in lines) / size(lines)

    assert rate >= LEAST_CONDITIONS, f'vetl has {rate:.2f} "if" and "when" per 1,000 words'
