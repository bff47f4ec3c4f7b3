"""Headers are read without an error, whatever they hold; logs and errors have no secret and no personal data."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vetl.partner import answers
from vetl.partner.answers import LINE_LENGTH, loggable_query, redact

NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("Sat, 21 Nov 2026 10:00:00 GMT", NOW),
        ("Sat, 21 Nov 2026 10:00:00 -0000", NOW),
        ("Sat, 21 Nov 2026 05:00:00 -0500", NOW),
        ("Saturday, 21-Nov-26 10:00:00 GMT", NOW),
        (None, None),
        ("", None),
        ("2026-11-21", None),
        ("Sat, 21 Nov 2026 99:00:00 GMT", None),
    ],
)
def test_dates(text: str | None, moment: datetime | None) -> None:
    assert answers.http_date(text) == moment


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        (" 1.5 ", 1.5),
        ("0", 0),
        ("Sat, 21 Nov 2026 10:01:00 GMT", 60),
        ("Sat, 21 Nov 2026 09:00:00 GMT", 0),
        ("-1", None),
        ("soon", None),
        ("nan", None),
        (None, None),
        ("9" * 400, float("inf")),
    ],
)
def test_retry_after(text: str | None, seconds: float | None) -> None:
    """Seconds, or a date on the server's clock: this machine's clock does not count."""
    assert answers.retry_after(text, NOW) == seconds


@given(st.text())
def test_nothing_raises(text: str) -> None:
    answers.http_date(text)
    answers.retry_after(text, NOW)
    answers.count(text)
    answers.media_type({"content-type": text})
    answers.charset({"content-type": text})


@given(st.integers(0, 10**17))
def test_counts_are_read_from_numbers_and_text(number: int) -> None:
    assert answers.count(number) == answers.count(str(number)) == answers.count(f" {number} ") == number


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("state: unknown value 'gone'", "state: unknown value 'gone'"),
        ("2026-01-02 is before 2025-01-01T00:00:00Z", "2026-01-02 is before 2025-01-01T00:00:00Z"),
        ("two\r\n lines\x00 here", "two lines here"),
        ("call +1 (555) 010-4477 now", "call *** now"),
        ("call 555.010.4477", "call ***"),
        ("tel5550104477", "tel***"),
        ("ann.o'neill@example.com is taken", "*** is taken"),
        ("Bearer abc.def expired", "Bearer *** expired"),
        ("token: abc", "token ***"),
        ("id 0f8fad5b-d9cb-469f-a165-70867728950e", "id ***"),
        ("role PARTNER-Role is unknown", "role *** is unknown"),
        (None, ""),
        ({"a": 1}, ""),
    ],
)
def test_texts_are_redacted(text: object, shown: str) -> None:
    assert redact(text, ["partner-role"]) == shown


@given(st.text(max_size=500), st.text(min_size=3, max_size=30), st.text(max_size=500))
def test_no_secret_is_shown_and_no_long_text(before: str, secret: str, after: str) -> None:
    shown = redact(before + secret + after, [secret])
    assert len(shown) <= LINE_LENGTH
    assert shown.isprintable()
    if not set(secret) <= set("* ") and len(secret.split()) == 1 and not {"*", "…"} & set(secret):
        assert secret not in shown or secret in before + "\n" + after


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("page=0&per_page=100&status=pending", "page=0&per_page=100&status=pending"),
        ("since=2026-01-02T03%3A04%3A05Z&end=2026-01-02", "since=2026-01-02T03:04:05Z&end=2026-01-02"),
        ("name=Ann+O%27Neill&email=ann%40example.com&phone=%2B15550104477", "name=***&email=***&phone=***"),
        ("q=Ann&client_id=4477&of=5550104477", "q=***&client_id=***&of=***"),
        ("", ""),
    ],
)
def test_a_query_in_the_log_has_no_personal_data(query: str, shown: str) -> None:
    assert loggable_query(f"/services/core/open_api/v1/clients?{query}") == shown
