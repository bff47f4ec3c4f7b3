from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.partner import headers

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
    assert headers.http_date(text) == moment


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
    assert headers.retry_after(text, NOW) == seconds


@given(st.text())
def test_nothing_raises(text: str) -> None:
    headers.http_date(text)
    headers.retry_after(text, NOW)
    headers.count(text)
    headers.media_type({"content-type": text})
    headers.charset({"content-type": text})


@given(st.integers(0, 10**17))
def test_counts_are_read_from_numbers_and_text(number: int) -> None:
    assert headers.count(number) == headers.count(str(number)) == headers.count(f" {number} ") == number
