"""All spellings of a telephone number become one number, by the country of the practice."""

from dataclasses import replace

import pytest
from support.warehouse_with_rows import HARBOR, Filled, call_line

from pipelines.loading.control.phone_numbers import e164, region_of

COUNTRIES = {
    "US": ("+12125550123", "(212) 555-0123", "212.555.0123", "1 212 555 0123", "+1 (212) 555-0123"),
    "CA": ("+17095550123", "(709) 555-0123", "709-555-0123", "+1 709 555 0123"),
    "AU": ("+61412345678", "0412 345 678", "+61 412 345 678", "0011 61 412 345 678"),
    "GB": ("+442071838750", "020 7183 8750", "+44 20 7183 8750", "00 44 20 7183 8750"),
    "NZ": ("+64211234567", "021 123 4567", "+64 21 123 4567"),
    "DE": ("+4930123456", "030 123456", "0049 30 123456"),
}
"""A number of each country, and its usual spellings there."""


@pytest.mark.parametrize("region", COUNTRIES)
def test_the_spellings_of_a_number_are_one(region: str) -> None:
    number, *spellings = COUNTRIES[region]

    assert {e164(spelling, region) for spelling in spellings} == {number}


@pytest.mark.parametrize("spelling", ["anonymous", "withheld", "0", "", "12345678901234567890"])
def test_other_texts_are_no_numbers(spelling: str) -> None:
    assert e164(spelling, "US") is None


def test_the_country_is_that_of_the_time_zone() -> None:
    zones = ("Australia/Sydney", "America/New_York", "America/St_Johns", "Europe/London", "UTC")

    assert [region_of(zone) for zone in zones] == ["AU", "US", "CA", "GB", None]


def noted(filled: Filled) -> dict[str, str | None]:
    return dict(filled.rows("select spelling, e164 from control.phone_numbers"))


def test_only_new_spellings_that_are_not_e164_are_read(filled: Filled) -> None:
    filled.replace_days(
        call_line(phone_number="(212) 555-0100"), call_line("2025-05-01 11:00", phone_number="+12125550100")
    )
    filled.merge("clients", {"id": "1", "phone": "anonymous"})

    assert filled.warehouse.note_phone_numbers({}) == 2
    assert filled.warehouse.note_phone_numbers({}) == 0
    assert noted(filled) == {"(212) 555-0100": "+12125550100", "anonymous": None}


def test_another_country_reads_all_numbers_again(filled: Filled) -> None:
    filled.merge("clients", {"id": "1", "phone": "0412 345 678"})
    filled.warehouse.note_phone_numbers({})
    filled.warehouse.note_phone_numbers({HARBOR.id: "AU"})
    assert noted(filled) == {"0412 345 678": "+61412345678"}

    filled.warehouse.set_practices([replace(HARBOR, time_zone="Europe/London")])
    filled.warehouse.note_phone_numbers({})
    assert noted(filled)["0412 345 678"] != "+61412345678"
