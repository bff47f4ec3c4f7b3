"""Numbers and dates in the format of the reader's country, and downloads that run nothing."""

import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import polars as pl
import pytest
from board.downloads import guarded
from board.pages import FOR_MANAGERS, Page
from board.words import NOTHING, words_for
from support.dashboard_pages import Open
from vetl.core.text import cell


@pytest.mark.parametrize(
    ("locale", "number", "share", "days"),
    [
        ("en-US", "1,234,567", "42%", "Dec 19, 2025\u2009\u2013\u2009Jan 15, 2026"),
        ("de-DE", "1.234.567", "42\xa0%", "19. Dez. 2025\u2009\u2013\u200915. Jan. 2026"),
        ("hi-IN", "12,34,567", "42%", "19 दिस॰ 2025 \u2013 15 जन॰ 2026"),
    ],
)
def test_numbers_and_dates_are_of_the_readers_country(locale: str, number: str, share: str, days: str) -> None:
    words = words_for(locale)

    assert words.number(1234567) == number
    assert words.percent(0.42) == share
    assert words.days(date(2025, 12, 19), date(2026, 1, 15)) == days


@pytest.mark.parametrize("locale", [None, "", "xx-YY", "not a locale", "en-US-x-private-longer-than-it-may-be"])
def test_a_locale_that_nobody_knows_is_american_english(locale: str | None) -> None:
    assert words_for(locale).number(1234.5, 1) == "1,234.5"


def test_small_shares_keep_a_digit_and_a_missing_number_is_a_dash() -> None:
    words = words_for("en-US")

    assert [words.percent(value) for value in (0.0234, 0.0, 1.0, None)] == ["2.3%", "0%", "100%", NOTHING]
    assert [words.hours(value) for value in (0.5, 3.26, 72.0, None)] == ["30 min", "3.3 h", "3 days", NOTHING]
    assert [words.signed(2), words.signed(-2.5, "h"), words.points(-0.081)] == ["+2", "-2.5 h", "-8.1 points"]
    assert words.moment(datetime(2026, 1, 16, 14, 30, 7)) == "Jan 16, 2026, 2:30\u202fPM"  # noqa: DTZ001 - a wall clock


def test_each_definition_stands_alone(ask: Callable[..., list[tuple[Any, ...]]]) -> None:
    """A tooltip shows one column: "of those" would refer to a column that is not in sight."""
    dangling = ask(
        """select table_name, column_name, description from meta.catalogue
           where regexp_matches(trim(description), '^(Of th|Those|The same|These|Them)')"""
    )

    assert dangling == []


CODE = re.compile(
    r"leak|episode|caller-days|interval of chance|\[definitions\]|`(?!vetl )[^`]*`|\b[a-z]+_[a-z_]+\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize("page", FOR_MANAGERS, ids=lambda page: page.path)
def test_no_code_and_no_word_of_ours_is_on_a_page_for_managers(opened: Open, page: Page) -> None:
    shown = opened(page.path if page is not FOR_MANAGERS[0] else "")
    texts = [one.value for kind in (shown.markdown, shown.caption, shown.info, shown.header) for one in kind]
    texts += [text for metric in shown.metric for text in (metric.label, metric.help or "")]
    read = [re.sub(r"\]\([^)]*\)|\\\\|analytics\S*duckdb", "", text) for text in texts]

    assert [match[0] for text in read for match in CODE.finditer(text)] == []


DISGUISED = ["\N{FULLWIDTH EQUALS SIGN}1+1", "\N{ZERO WIDTH SPACE}=1", "\N{MINUS SIGN}1+cmd"]
FORMULAS = ["=HYPERLINK(1)", "@sum", "-1+1", "\tx", "\r=1", " =1+1", *DISGUISED]
"""A spreadsheet would run them."""
PLAIN = ("spring", "+61 412 345 678", "-5", "-1,250.5", "a=b")


def test_a_download_runs_nothing_in_a_spreadsheet() -> None:
    """A campaign's name comes from whoever made the link, and a formula in it would run at the practice.

    The command line writes the same cells.
    """
    table = pl.DataFrame({"campaign": [*FORMULAS, *PLAIN, None]}).with_row_index("n")

    written = guarded(table)
    assert written.get_column("campaign").to_list() == [*(f"'{text}" for text in FORMULAS), *PLAIN, None]
    assert written.get_column("n").equals(table.get_column("n"))
    runs = [text for text in FORMULAS if text[0] not in "\t\r"]
    assert [cell(text) for text in (*runs, *PLAIN)] == [*(f"'{text}" for text in runs), *PLAIN]
