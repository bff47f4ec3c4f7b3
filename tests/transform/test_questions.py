"""The questions of warehouse/README.md: each statement runs on the marts and answers with the columns shown."""

import re

import duckdb
import pytest
from support.analysts_page import PAGE, Question, answered, questions
from support.dbt_build import Build

TEXT = PAGE.read_text("utf-8")
QUESTIONS = questions(TEXT)


def test_there_are_at_least_fifteen() -> None:
    assert len(QUESTIONS) >= 15


def test_every_heading_that_asks_is_answered() -> None:
    """A question that the page's own reader does not find would be tested by nobody."""
    assert re.findall(r"### \d+\. (.+)", TEXT) == [question.title for question in QUESTIONS]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.title)
def test_a_question_is_answered_by_one_statement(question: Question, filled: Build) -> None:
    with duckdb.connect(filled.warehouse, read_only=True) as connection:
        cursor = connection.execute(question.statement)
        assert question.columns == [column[0] for column in cursor.description or ()]
        assert cursor.fetchall(), "an answer without a row shows nothing"


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.title)
def test_an_answer_comes_in_one_order(question: Question) -> None:
    """Who writes the outputs anew gets the same rows in the same order."""
    assert "\n| " in question.output
    assert "order by" in question.statement


def test_a_question_reads_marts_alone() -> None:
    """What is published: nothing else can be asked by an analyst."""
    read = re.findall(r"(?:from|join) (?!\()(\S+)", " ".join(question.statement for question in QUESTIONS))

    assert all(name.startswith("marts.") for name in read)


def test_outputs_are_written_anew_and_nothing_else() -> None:
    outputs = {question.statement: question.output for question in QUESTIONS}

    assert answered(TEXT, lambda statement: outputs[statement]) == TEXT
    assert [question.output for question in questions(answered(TEXT, lambda _: "| a |\n"))] == ["| a |\n"] * len(
        QUESTIONS
    )


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.title)
def test_a_question_takes_one_statement_and_one_join_at_most(question: Question) -> None:
    assert question.statement.count(";") == 0
    assert len(re.findall(r"\bjoin\b", question.statement)) <= 1
