"""`vetl verify`: recompute the digests of a published file."""

from collections import Counter
from dataclasses import asdict
from datetime import date
from pathlib import Path

from pipelines.cli.metric import published_file
from pipelines.cli.progress import waiting
from pipelines.cli.terminal import count, print_aside, print_json, print_line, print_table, say, short
from pipelines.loading.published.digests import verify as recompute

_SHOWN = 40
"""Rows of the table of differences; `--json` has all."""


def verify(file: Path | None, practice: str | None, day: date | None, *, as_json: bool) -> int:
    """Run `vetl verify`: print whether the file is whole, or which mart, practice and day differ."""
    published = published_file(file)
    with waiting("recomputing"):
        found = recompute(published, practice, day)
    code = 1 if found.different else 0
    if as_json:
        print_json({"exit_code": code, "file": str(published), **asdict(found)})
        return code
    checked = f"{count(found.marts, 'mart')}, {count(found.leaves, 'digest')}"
    if not found.different:
        print_line(f"Whole: {short(published)}: {checked}")
    else:
        rows = [(leaf.mart, leaf.practice_id, leaf.day) for leaf in found.different[:_SHOWN]]
        print_table(f"Not as published: {short(published)}: {checked}", ("mart", "practice", "day"), rows)
        by_mart = Counter(leaf.mart for leaf in found.different)
        say("different from its digests: " + ", ".join(f"{mart} ({number:,})" for mart, number in by_mart.items()))
    print_aside(f"root {found.root}")
    return code
