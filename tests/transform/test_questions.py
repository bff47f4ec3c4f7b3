"""The questions of warehouse/README.md: each statement runs on the marts and returns the shown columns."""

import re

import duckdb
import pytest
from support.analysts_page import PAGE
from support.dbt_build import Build
from support.warehouse_with_rows import ask
from vetl.cli import app
from vetl.core.text import markdown
from vetl.figures.catalogue import Question, worked_questions

TEXT = PAGE.read_text("utf-8")
QUESTIONS = worked_questions()


def test_every_heading_that_asks_is_answered() -> None:
    """Nothing would test a question that the page's own reader does not find."""
    assert re.findall(r"### \d+\. (.+)", TEXT) == [question.title for question in QUESTIONS]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.title)
def test_a_question_is_answered_by_one_statement(question: Question, filled: Build) -> None:
    with duckdb.connect(filled.warehouse, read_only=True) as connection:
        cursor = connection.execute(question.statement)
        assert columns(question) == [column[0] for column in cursor.description or ()]
        assert cursor.fetchall(), "an answer without a row shows nothing"


def test_a_question_is_asked_by_its_name(
    filled: Build, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its Markdown has the form of the page, with other data."""
    question = QUESTIONS[0]
    monkeypatch.setenv("VETL_WAREHOUSE__PUBLISHED", str(filled.warehouse))

    assert app.execute(["query", "--question", question.name, "--format", "markdown"]) == 0

    rows = ask(filled.warehouse, question.statement)
    printed = capsys.readouterr().out
    assert app.execute(["query", "--question", question.name, "--sql"]) == 0
    assert capsys.readouterr().out == f"{question.statement}\n"
    assert printed == markdown(columns(question), rows)


def columns(question: Question) -> list[str]:
    header, *_ = question.output.splitlines()
    return header.strip("| ").split(" | ")
