import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.partner.hiding import LONGEST, fit_to_show


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
def test_what_is_shown(text: object, shown: str) -> None:
    assert fit_to_show(text, ["partner-role"]) == shown


@given(st.text(max_size=500), st.text(min_size=3, max_size=30), st.text(max_size=500))
def test_no_secret_is_shown_and_no_long_text(before: str, secret: str, after: str) -> None:
    shown = fit_to_show(before + secret + after, [secret])
    assert len(shown) <= LONGEST
    assert shown.isprintable()
    if not set(secret) <= set("* ") and len(secret.split()) == 1 and not {"*", "…"} & set(secret):
        assert secret not in shown or secret in before + "\n" + after
