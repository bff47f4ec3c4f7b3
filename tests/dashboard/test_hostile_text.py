"""Text that is not vetl's own is drawn letter by letter: it is no picture, no link and no mark-up."""

import re
from typing import Any

import pytest
from board.pages import PAGES
from board.words import plain
from hypothesis import given, strategies as st
from streamlit.testing.v1 import AppTest
from support.dashboard_pages import Copied, Open

PICTURE = "![x](http://evil.example/x.png)"
LINK = "[sign in again](http://evil.example)"
HOSTILE = f"{PICTURE} {LINK} :material/home: :red[x] $x$ <b>x</b> www.evil.example a@evil.example\n# x"
LEFT = re.compile(r"!\[|\]\(|https?://|:material/|:red\[|(?<!\\)\$|(?<!\\)<b|www\.e|a@e")
"""Mark-up, or an address that a browser's Markdown makes a link of."""


@pytest.mark.parametrize("path", ["", *(page.path for page in PAGES[1:])])
def test_no_page_draws_the_mark_up_of_a_name_of_a_value_or_of_its_address(
    path: str, opened: Open, copied: Copied
) -> None:
    quoted = HOSTILE.replace("'", "''")
    file = copied(
        f"update marts.practices set name = name || '{quoted}', group_name = group_name || '{quoted}'",
        "update marts.practices set as_of = as_of - interval 9 days where practice_id = 'loc-002'",
        f"update marts.booking_funnel_stages set stage = stage || '{quoted}'",
        f"update marts.phone_calls set outcome = outcome || '{quoted}', state = state || '{quoted}'",
        f"update marts.outreach_requests set outcome = outcome || '{quoted}'",
        f"update meta.proof set evidence = evidence || '{quoted}'",
    )
    for address in ({"practice": HOSTILE, "metric": HOSTILE, "figure": HOSTILE, HOSTILE: "x", "of": HOSTILE}, {}):
        page = opened(path, file, **address)
        assert not page.exception
        assert [text for text in marked_up(page) if LEFT.search(text)] == []


def marked_up(page: AppTest) -> list[str]:
    """Return all texts of the page that a browser takes for Markdown."""
    found: list[str] = []
    for part in (page.main, page.sidebar):
        elements: list[Any] = list(part)
        found += [str(getattr(one, "value", "")) for one in elements if one.type in MARKDOWN]
        found += [str(getattr(one.proto, name, "")) for one in elements for name in ("label", "help")]
        found += [str(block.label) for block in part.expander]
    return [re.sub(r"`[^`]*`|\[rows behind it\]\([^)]*\)", "", text) for text in found]


MARKDOWN = {"markdown", "caption", "header", "title", "success", "info", "warning", "error", "alert"}


@given(st.text())
def test_no_sign_of_ascii_stands_without_a_backslash(text: str) -> None:
    escaped = plain(text)

    assert "\n" not in escaped
    assert re.search(r"(?<!\\)[!\"#$%&'()*+,\-./:;<=>?@\[\]^_`{|}~]", re.sub(r"\\\\", "", escaped)) is None
    assert escaped.replace("\u2060", "").replace("\\\\", "\0").replace("\\", "").replace("\0", "\\") == " ".join(
        text.replace("\u2060", "").split()
    )
