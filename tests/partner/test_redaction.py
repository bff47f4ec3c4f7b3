import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.partner.redaction import LINE_LENGTH, loggable_query, redact


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
