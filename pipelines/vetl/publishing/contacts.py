"""`contacts.duckdb`: names, numbers and addresses of the people in the marts (docs/contacts.md)."""

import os
from contextlib import closing, suppress
from pathlib import Path

import duckdb

from vetl.core.published_file import FAKE_NUMBER
from vetl.publishing.marts import marts_of
from vetl.publishing.replacing import attach_target, remove, replaced
from vetl.store.connection import Connection, attach_private, literal

_MODE = 0o640
_NOBODY_ELSE = 0o770
_NUMBERS = f"""
    select practice_id, spelling, e164 from control.phone_numbers
    where not starts_with(e164, {literal(FAKE_NUMBER)})
"""
"""The numbers behind spellings; neither pseudonyms nor what is no number."""

_TABLES = {
    "clients": """
        select clients.practice_id, client_id, name, e164 as phone_number, email
        from marts.clients as clients
        left join numbers on clients.practice_id = numbers.practice_id and clients.phone = numbers.spelling
    """,
    "phone_calls": """
        select calls.practice_id, call_key, client_name as name, e164 as phone_number
        from marts.phone_calls as calls
        left join numbers on calls.practice_id = numbers.practice_id and calls.phone_number = numbers.spelling
        where client_id is null
    """,
    "call_back_list": """
        select unbooked.practice_id, unbooked.episode_id, coalesce(clients.name, calls.client_name) as name,
            coalesce(own.e164, numbers.e164) as phone_number, clients.email, calls.patient_name as pet
        from marts.call_back_list as unbooked
        left join marts.clients as clients using (practice_id, client_id)
        left join marts.phone_calls as calls
            on unbooked.practice_id = calls.practice_id and unbooked.last_contact_id = calls.call_key
            and unbooked.last_contact_kind = 'call'
        left join (select distinct practice_id, e164 from numbers) as own
            on unbooked.practice_id = own.practice_id and unbooked.phone_number = own.e164
        left join numbers on unbooked.practice_id = numbers.practice_id and clients.phone = numbers.spelling
    """,
}


def contacts_file(published: Path) -> Path:
    """Return the path of the contacts beside the published file."""
    return published.resolve().with_name("contacts.duckdb")


def write_contacts(private: Path, published: Path) -> Path:
    """Write the contacts from the private file's marts, unless they are as new as the published file.

    Only the owner and the group may read the file. It is replaced in one rename and keeps both.
    """
    file = contacts_file(published)
    with replaced(file, "main", first=_MODE, most=_NOBODY_ELSE) as draft:
        if not file.exists() or file.stat().st_mtime_ns < published.stat().st_mtime_ns:
            _write_tables(private, draft)
    return file


def remove_contacts(published: Path) -> bool:
    """Remove the file if vetl wrote it, and return whether it did."""
    return remove(contacts_file(published), "main")


def attach_contacts(connection: Connection, published: Path) -> None:
    """Attach the file as `contacts` if it exists and may be read."""
    file = contacts_file(published)
    if os.access(file, os.R_OK):
        with suppress(duckdb.Error):  # queries of the marts work also if the file was removed or damaged meanwhile
            connection.execute(f"attach {literal(str(file))} as contacts (read_only)")


def _write_tables(private: Path, draft: Path) -> None:
    with closing(duckdb.connect()) as connection:
        attach_private(connection, private)
        attach_target(connection, draft, "main")
        connection.execute(f"create temp table numbers as {_NUMBERS}")
        built = marts_of(connection)
        for name, statement in _TABLES.items():
            if name not in built:
                continue  # somebody has built a part of the marts
            contact = "name, phone_number" if name == "phone_calls" else "name, phone_number, email"
            connection.execute(
                f"create table target.{name} as from ({statement}) where coalesce({contact}) is not null"
            )
        connection.execute("detach target")
