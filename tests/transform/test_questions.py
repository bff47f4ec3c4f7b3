"""The questions of warehouse/README.md: each statement runs on the marts and answers with the columns shown."""

import re
from pathlib import Path

import duckdb
import pytest
from support.dbt_build import Build

from pipelines.bundled import dbt_project

README = Path(dbt_project()).parent / "warehouse" / "README.md"
QUESTIONS = re.findall(
    r"### \d+\. (.+?)\n\n```sql\n(.+?)```\n\n\| (.+?) \|\n", README.read_text("utf-8"), re.DOTALL
)


def test_there_are_at_least_fifteen() -> None:
    assert len(QUESTIONS) >= 15


@pytest.mark.parametrize(
    ("statement", "shown"), [each[1:] for each in QUESTIONS], ids=[each[0] for each in QUESTIONS]
)
def test_a_question_is_answered_by_one_statement(statement: str, shown: str, filled: Build) -> None:
    with duckdb.connect(filled.warehouse, read_only=True) as connection:
        cursor = connection.execute(statement)
        assert shown.split(" | ") == [column[0] for column in cursor.description or ()]


def test_a_question_reads_marts_alone() -> None:
    """What is published: nothing else can be asked by an analyst."""
    read = re.findall(r"(?:from|join) (\S+)", " ".join(statement for _, statement, _ in QUESTIONS))

    assert all(name.startswith("marts.") for name in read)
