"""Map spellings to telephone numbers: `+61 412 345 678` and, in Australia, `0412 345 678` are the same number.

Every spelling is parsed, once. A number with its country may be wrong too: `+266696687` is ANONYMOUS on a keypad,
and `+4402079460018` is the same number as `+442079460018`.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import phonenumbers
import polars as pl

from vetl.core.published_file import FAKE_NUMBER
from vetl.store.commit import registered_frames
from vetl.store.connection import Connection

_LISTS = (("clients", "phone"), ("appointments", "client_phone"), ("ai_outbound_requests", "contact_number"))
_CALLS = """
    select practice_id, phone_number as spelling from raw.phone_calls as calls
    where list_contains($all_days, practice_id) or not list_contains($known, practice_id) or exists (
        select 1 from control.changes as noted where noted.table_name = 'phone_calls'
        and noted.practice_id = calls.practice_id and noted.day = calls.call_date
    )
"""
_PSEUDONYM = re.compile(re.escape(FAKE_NUMBER) + r"\d{11}")
_WITHHELD = frozenset({"266696687", "7378742833", "2562533", "8566696", "86282452253"})
"""ANONYMOUS, RESTRICTED, BLOCKED, UNKNOWN and UNAVAILABLE on a keypad, which carriers send instead of a number."""
_ZEROS = re.compile(r"\d{0,3}0{7,}")
"""No subscriber, after the code of a country."""


def note_phone_numbers(connection: Connection, regions: Mapping[str, str]) -> int:
    """Parse new spellings; return their number.

    `regions` holds the region of practices whose time zone does not imply it. Only calls of days that changed
    since the last build are searched, unless the region of the practice or the version of phonenumbers changed,
    which decides what a number is.
    """
    zones = dict(connection.execute("select id, time_zone from control.practices").fetchall())
    now = {practice: regions.get(practice) or region_of(zone) for practice, zone in zones.items()}
    read_by = {practice: f"{region or '-'} {phonenumbers.__version__}" for practice, region in now.items()}
    before = dict(connection.execute("select practice_id, region from control.phone_regions").fetchall())
    changed = [practice for practice, by in read_by.items() if before.get(practice) != by]
    for practice in changed:
        for table in ("phone_numbers", "phone_regions"):
            connection.execute(f"delete from control.{table} where practice_id = ?", [practice])
        connection.execute("insert into control.phone_regions values (?, ?)", [practice, read_by[practice]])
    spellings = " union all ".join(
        [_CALLS, *(f"select practice_id, {name} from raw.{table}" for table, name in _LISTS)]
    )
    unread = connection.execute(
        f"select distinct practice_id, spelling from ({spellings}) where spelling <> ''"
        " except select practice_id, spelling from control.phone_numbers",
        {"all_days": changed, "known": list(now)},
    ).fetchall()
    if unread:
        rows = [(practice, spelling, e164(spelling, now.get(practice))) for practice, spelling in unread]
        columns = {"practice_id": pl.String, "spelling": pl.String, "e164": pl.String}
        with registered_frames(connection, read_numbers=pl.DataFrame(rows, columns, orient="row")):
            connection.execute("insert into control.phone_numbers by name from read_numbers")
    return len(unread)


def e164(spelling: str, region: str | None) -> str | None:
    """Return the number of a spelling in a region; `None` if no subscriber can have it.

    The pseudonym of a forgotten person's number stays a number.
    """
    if _PSEUDONYM.fullmatch(spelling):
        return spelling
    try:
        number = phonenumbers.parse(spelling, region)
    except phonenumbers.NumberParseException:
        return None
    if is_withheld(spelling) or not phonenumbers.is_valid_number(number):
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def is_withheld(spelling: str) -> bool:
    """Return whether a number says that the caller's is withheld: a word on a keypad, or zeros."""
    digits = re.sub(r"\D", "", spelling)
    return digits in _WITHHELD or bool(_ZEROS.fullmatch(digits))


def region_by_which(read_by: str) -> str | None:
    """Return the region of an entry of `control.phone_regions`, which has the version of phonenumbers too."""
    region = read_by.split(maxsplit=1)[0]
    return None if region == "-" else region


@cache
def region_of(time_zone: str) -> str | None:
    """Return the country of a time zone by the zone database; `None` for a zone without one."""
    table = files("tzdata.zoneinfo").joinpath("zone.tab").read_text("utf-8")
    places = (line.split("\t") for line in table.splitlines() if not line.startswith("#"))
    return next((place[0] for place in places if place[2] == time_zone), None)
