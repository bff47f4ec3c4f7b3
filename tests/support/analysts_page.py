"""Write the outputs of warehouse/README.md again.

python tests/support/analysts_page.py FILE: answer each question from a published file (of `vetl demo`),
and put the answer under its statement.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from vetl.bundled import analysts_page
from vetl.core.text import markdown
from vetl.figures.catalogue import WORKED
from vetl.publishing.statements import query

PAGE = analysts_page()


def answered(page: str, answer: Callable[[str], str]) -> str:
    """Return the page with each output replaced by the answer of its statement, a Markdown table."""
    return WORKED.sub(lambda match: match[1] + answer(match[4]), page)


def main(published: Path) -> None:
    def table(statement: str) -> str:
        answer = query(published, statement)
        return markdown(answer.columns, answer.rows)

    PAGE.write_text(answered(PAGE.read_text("utf-8"), table), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
