"""Mentions of a person are found in every spelling, and nothing else is found.

All spellings of a telephone number become one number, by the country of the practice.
"""

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import phonenumbers
import pytest
from hypothesis import given, strategies as st
from support.warehouse_with_rows import HARBOR, Filled, call_line
from vetl.store.control.phone_numbers import e164, note_phone_numbers, region_of
from vetl.store.mentions import Mentions, known_id, known_name, known_number, known_words

KEY = b"a key of tests"
ID, MAIL, NUMBER = "forgotten-1", "forgotten-1@invalid", "+99900000000001"
SOFIA = Mentions(
    KEY,
    [
        *known_id(KEY, "7f3c2a10-sofia", ID),
        *known_id(KEY, "4471", ID),
        *known_words(KEY, "sofia.wrenfield@mail.example", MAIL),
        *known_name(KEY, "Sofía Wrenfield"),
        *known_number(KEY, "+12122595707", "US", NUMBER),
    ],
)
SPELLINGS = {
    "Sofía Wrenfield": "forgotten",
    "SOFIA WRENFIELD": "forgotten",
    "Sofia  Wrenfield": "forgotten",
    "Sofia_Wrenfield": "forgotten",
    "Sofia-Wrenfield": "forgotten",
    "sofia.wrenfield": "forgotten",
    "Sofia\nWrenfield": "forgotten",
    "Sofia\tWrenfield": "forgotten",
    "Sofia\u00a0Wrenfield": "forgotten",
    "Sofia\u2009Wrenfield": "forgotten",
    "Sofi\u0301a Wrenfield": "forgotten",
    "So\u00adfia Wren\u200bfield": "forgotten",
    "Ｓｏｆｉａ Ｗｒｅｎｆｉｅｌｄ": "forgotten",  # noqa: RUF001
    "Wrenfield, Sofia": "forgotten",
    "WRENFIELD/SOFIA": "forgotten",
    "Sofia Q. Wrenfield": "forgotten",
    "SofiaWrenfield": "forgotten",
    "Sofia%20Wrenfield": "forgotten",
    "Sofia&nbsp;Wrenfield": "forgotten",
    "2122595707": NUMBER,
    "12122595707": NUMBER,
    "+12122595707": NUMBER,
    "+1 212 259 5707": NUMBER,
    "1-212-259-5707": NUMBER,
    "001 212 259 5707": NUMBER,
    "(212) 259-5707": NUMBER,
    "(+1) 212 259 5707": NUMBER,
    "212.259.5707": NUMBER,
    "212‑259‑5707": NUMBER,  # noqa: RUF001
    "212 – 259 – 5707": NUMBER,  # noqa: RUF001
    "２１２ ２５９ ５７０７": NUMBER,  # noqa: RUF001
    "2 1 2 2 5 9 5 7 0 7": NUMBER,
    "sofia.wrenfield@mail.example": MAIL,
    "Sofia.Wrenfield@MAIL.example": MAIL,
    "7f3c2a10-sofia": ID,
    "7F3C2A10-SOFIA": ID,
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(
    "around", ["{}", "asked for {} yesterday", "({}), at 14:00 on 2026-01-02;", "mailto:{}?x=1"]
)
def test_every_spelling_is_replaced_and_the_rest_of_the_text_stays(spelling: str, around: str) -> None:
    assert SOFIA.replaced(around.format(spelling)) == around.format(SPELLINGS[spelling])


def test_a_number_before_another_number_is_recognised() -> None:
    assert SOFIA.replaced("212-259-5707 2026") == f"{NUMBER} 2026"
    assert SOFIA.replaced("2026-01-02 212 259 5707") == f"2026-01-02 {NUMBER}"


@pytest.mark.parametrize(
    "text",
    ["", "Sofia", "Wrenfield", "Sofia Wren", "2122595708", "4471", "max.ray@mail.example", "7f3c2a10", "%", "\\"],
)
def test_texts_that_only_resemble_the_person_stay(text: str) -> None:
    assert SOFIA.replaced(text) == text


@given(
    spelling=st.sampled_from(sorted(SPELLINGS)),
    before=st.text(alphabet=st.characters(exclude_categories=["L", "N", "M", "C"]), max_size=8),
    after=st.text(alphabet=st.characters(exclude_categories=["L", "N", "M", "C"]), max_size=8),
    form=st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]),
)
def test_no_letter_or_digit_of_a_mention_is_left_whatever_surrounds_it(
    spelling: str, before: str, after: str, form: Any
) -> None:
    shown = SOFIA.replaced(f"{before}{unicodedata.normalize(form, spelling)}{after}")

    assert SPELLINGS[spelling] in shown
    assert not {"sofia", "wrenfield", "5707"}.intersection(
        shown.lower().replace("-", " ").replace("_", " ").split()
    )


@given(st.text())
def test_a_text_that_was_replaced_once_stays_as_it_is(text: str) -> None:
    shown = SOFIA.replaced(f"{text} Sofia Wrenfield {text} 212 259 5707")

    assert SOFIA.replaced(shown) == shown


def test_in_json_keys_texts_and_numbers_are_replaced_and_ids_of_other_things_stay() -> None:
    body = {
        "client_id": "7f3c2a10-sofia",
        "pet_id": "7f3c2a10-sofia",
        "to": [2122595707, {"Sofia Wrenfield": True}],
    }

    assert SOFIA.replaced_json(body) == {
        "client_id": ID,
        "pet_id": "7f3c2a10-sofia",
        "to": [NUMBER, {"forgotten": True}],
    }
    assert json.dumps(SOFIA.replaced_json(None)) == "null"


def test_a_short_id_is_recognised_only_in_columns_of_ids() -> None:
    assert SOFIA.identity("4471") == ID
    assert SOFIA.identity("44719") is None
    assert SOFIA.replaced_json({"client_id": "4471"}) == {"client_id": ID}


@pytest.mark.parametrize(
    ("number", "region", "spellings"),
    [
        ("+61412345678", "AU", ["0412 345 678", "+61 412 345 678", "61412345678", "0061 412 345 678"]),
        ("+442079460958", "GB", ["020 7946 0958", "+44 (0)20 7946 0958", "+44 20 79460958"]),
        ("+4930123456", "DE", ["030 123456", "+49 30 123456", "030/123456"]),
    ],
)
def test_numbers_of_other_countries_are_recognised_with_and_without_the_country(
    number: str, region: str, spellings: list[str]
) -> None:
    mentions = Mentions(KEY, known_number(KEY, number, region, NUMBER))

    assert [
        spelling for spelling in spellings if mentions.replaced(f"call {spelling} now") != f"call {NUMBER} now"
    ] == []
    assert {mentions.number(spelling) for spelling in spellings} == {NUMBER}


@pytest.mark.parametrize(
    ("spelling", "number"),
    [
        ("+4402079460018", "+442079460018"),
        ("+44 (0)20 7946 0018", "+442079460018"),
        ("+610412345678", "+61412345678"),
        ("tel:+12125550199", "+12125550199"),
        ("\uff0b\uff11\uff12\uff11\uff12\uff15\uff15\uff15\uff10\uff11\uff19\uff19", "+12125550199"),
        ("+12125550199 ext. 3", "+12125550199"),
        (NUMBER, NUMBER),
    ],
)
def test_a_number_with_its_country_has_one_spelling_too(spelling: str, number: str) -> None:
    assert {e164(spelling, region) for region in ("US", "AU", None)} == {number}


WITHHELD = (
    "266696687",
    "7378742833",
    "2562533",
    "8566696",
    "86282452253",
    "10000000000",
    "0000000000",
    "61000000000",
)


@pytest.mark.parametrize("region", ["US", "GB", "AU", None])
@pytest.mark.parametrize(
    "spelling",
    [
        *("anonymous", "Anonymous", "Restricted", "withheld", "Unavailable", "PRIVATE", "", "0", "+", "+1", "+0"),
        *("911", "611", "+1411", "+11111111111", "+15555550100", "+12125550", "12345678901234567890"),
        *("+12345678901234567", "+999123456789", "555-0199"),
        *WITHHELD,
        *(f"+{digits}" for digits in WITHHELD),
    ],
)
def test_what_no_subscriber_can_have_is_no_number(spelling: str, region: str | None) -> None:
    assert e164(spelling, region) is None


def test_the_country_is_that_of_the_time_zone() -> None:
    zones = ("Australia/Sydney", "America/New_York", "America/St_Johns", "Europe/London", "UTC")

    assert [region_of(zone) for zone in zones] == ["AU", "US", "CA", "GB", None]


def note_numbers(filled: Filled, regions: Mapping[str, str]) -> int:
    with filled.warehouse.writing() as connection:
        return note_phone_numbers(connection, regions)


def noted(filled: Filled) -> dict[str, str | None]:
    return dict(filled.rows("select spelling, e164 from control.phone_numbers"))


def test_only_new_spellings_are_read(filled: Filled, monkeypatch: pytest.MonkeyPatch) -> None:
    filled.replace_days(
        call_line(phone_number="(212) 555-0100"), call_line("2025-05-01 11:00", phone_number="+12125550100")
    )
    filled.merge("clients", {"id": "1", "phone": "anonymous"})

    assert note_numbers(filled, {}) == 3
    assert note_numbers(filled, {}) == 0
    assert noted(filled) == {"(212) 555-0100": "+12125550100", "+12125550100": "+12125550100", "anonymous": None}
    monkeypatch.setattr(phonenumbers, "__version__", "newer")
    assert note_numbers(filled, {}) == 3


def test_another_country_reads_all_numbers_again(filled: Filled) -> None:
    filled.merge("clients", {"id": "1", "phone": "0412 345 678"})
    note_numbers(filled, {})
    note_numbers(filled, {HARBOR.id: "AU"})
    assert noted(filled) == {"0412 345 678": "+61412345678"}

    filled.warehouse.set_practices([replace(HARBOR, time_zone="Europe/London")])
    note_numbers(filled, {})
    assert noted(filled)["0412 345 678"] != "+61412345678"
