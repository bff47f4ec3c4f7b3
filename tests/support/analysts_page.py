"""The questions of warehouse/README.md, and a way to write their outputs anew.

python tests/support/analysts_page.py FILE: answer each question from a published file, the one that
`vetl demo --days 60` makes, and put what it answers under the statement.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pipelines.bundled import dbt_project
from pipelines.core.text import markdown
from pipelines.loading.published.query import query

PAGE = dbt_project().parent / "warehouse" / "README.md"
_QUESTION = re.compile(r"(### \d+\. ([^\n]+)\n\n(?:[^#`\n][^\n]*\n)*\n?```sql\n([^`]+)```\n\n)((?:\|[^\n]*\n)+)")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the statement that answers it, and the output that the page shows."""

    title: str
    statement: str
    output: str

    @property
    def unlimited(self) -> str:
        """The statement that answers with all its rows."""
        return re.sub(r"\blimit \d+\s*$", "", self.statement)

    @property
    def columns(self) -> list[str]:
        header, *_ = self.output.splitlines()
        return header.strip("| ").split(" | ")


def questions(page: str) -> list[Question]:
    return [Question(title, statement, output) for _, title, statement, output in _QUESTION.findall(page)]


def answered(page: str, answer: Callable[[str], str]) -> str:
    """The page with each output replaced by what its statement answers, a Markdown table."""
    return _QUESTION.sub(lambda found: found[1] + answer(found[3]), page)


def main(published: Path) -> None:
    def table(statement: str) -> str:
        answer = query(published, statement)
        return markdown(answer.columns, answer.rows)

    PAGE.write_text(answered(PAGE.read_text("utf-8"), table), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
