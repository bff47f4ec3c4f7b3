"""Map spellings to telephone numbers: `+61 412 345 678` and, in Australia, `0412 345 678` are the same number.

Only distinct spellings that are not E.164 are parsed, which keeps the cost of a first sync negligible.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import duckdb
import phonenumbers

E164 = r"\+[1-9][0-9]{6,14}"
_LISTS = (("clients", "phone"), ("appointments", "client_phone"), ("ai_outbound_requests", "contact_number"))
_CALLS = """
    select practice_id, phone_number as spelling from raw.phone_calls as calls
    where list_contains($all_days, practice_id) or exists (
        select 1 from control.changes as noted where noted.table_name = 'phone_calls'
        and noted.practice_id = calls.practice_id and noted.day = calls.call_date
    )
"""


def note_phone_numbers(connection: duckdb.DuckDBPyConnection, regions: Mapping[str, str]) -> int:
    """Parse new spellings; return their number.

    `regions` holds the region of practices whose time zone does not imply it. Only calls of days that changed
    since the last build are searched, unless the region of the practice changed.
    """
    now = {
        practice: regions.get(practice) or region_of(zone)
        for practice, zone in connection.execute("select id, time_zone from control.practices").fetchall()
    }
    before = dict(connection.execute("select practice_id, region from control.phone_regions").fetchall())
    changed = [practice for practice, region in now.items() if before.get(practice, "") != region]
    for practice in changed:
        for table in ("phone_numbers", "phone_regions"):
            connection.execute(f"delete from control.{table} where practice_id = ?", [practice])
        connection.execute("insert into control.phone_regions values (?, ?)", [practice, now[practice]])
    spellings = " union all ".join(
        [_CALLS, *(f"select practice_id, {name} from raw.{table}" for table, name in _LISTS)]
    )
    unread = connection.execute(
        f"select distinct practice_id, spelling from ({spellings}) where spelling <> ''"
        " and list_contains($practices, practice_id) and not regexp_full_match(spelling, $e164)"
        " except select practice_id, spelling from control.phone_numbers",
        {"all_days": changed, "practices": list(now), "e164": E164},
    ).fetchall()
    rows = [(practice, spelling, e164(spelling, now[practice])) for practice, spelling in unread]
    if rows:
        connection.executemany("insert into control.phone_numbers values (?, ?, ?)", rows)
    return len(rows)


def e164(spelling: str, region: str | None) -> str | None:
    """Return the number of a spelling in a region; `None` if it is no possible number there."""
    try:
        number = phonenumbers.parse(spelling, region)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_possible_number(number):
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


@cache
def region_of(time_zone: str) -> str | None:
    """Return the country of a time zone by the zone database; `None` for a zone without one."""
    table = files("tzdata.zoneinfo").joinpath("zone.tab").read_text("utf-8")
    places = (line.split("\t") for line in table.splitlines() if not line.startswith("#"))
    return next((place[0] for place in places if place[2] == time_zone), None)
