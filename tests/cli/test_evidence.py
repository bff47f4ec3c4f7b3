"""The one line of evidence below an answer."""

from datetime import UTC, datetime

from vetl.cli.metric import in_one_line
from vetl.figures.evidence import Evidence


def proof(through: int | None, held: int = 0) -> Evidence:
    certified = datetime(2026, 1, through, tzinfo=UTC) if through else None
    return Evidence("p", "phone_calls", None, certified, None, None, 10, held, 0, None)


def test_lists_that_are_certified_are_whole_through_the_earliest_certificate() -> None:
    assert in_one_line([proof(16), proof(15)], []) == (
        "whole through 2026-01-15, 2 lists certified (--evidence shows each list)"
    )


def test_what_is_missing_is_said_and_never_hidden() -> None:
    line = in_one_line([proof(16), proof(None, held=3)], ["a doubt"])
    assert line == "1 of 2 lists not certified, 3 rows in quarantine (--evidence shows each list and 1 doubt)"
