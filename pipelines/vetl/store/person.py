"""A client to forget, the values by which the stored rows of this client are found, and the plans of forgettings.

The plans of unfinished forgettings are a note beside the warehouse, written before the first change. It contains
the values of the person, which its first step removes from the warehouse. A scan that finds none erases it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from vetl.core.errors import WarehouseError, WrongUse
from vetl.store.connection import Connection, quoted
from vetl.store.control.phone_numbers import is_withheld
from vetl.store.mentions import ID_IN_TEXT, national
from vetl.store.notes import notes_file, read_note, write_note
from vetl.store.pseudonyms import EMAILS, IDS, PHONES
from vetl.store.tables import RawTable
from vetl.store.warehouse import Warehouse

_NOT_ASCII = r"[^\x00-\x7F]|\\u[0-9a-fA-F]{4}"
"""A letter that can be written in several ways: texts with such a letter are always compared in full."""

_LOCAL_DIGITS = 7
"""Digits of a number without its area code: people of two areas may have the same."""


@dataclass(frozen=True, slots=True)
class Person:
    """A client of a practice, and the values by which the client is found, as stored rows spell them."""

    practice_id: str
    client_id: str
    ids: frozenset[str] = field(repr=False)
    phones: frozenset[str] = field(default=frozenset(), repr=False)
    emails: frozenset[str] = field(default=frozenset(), repr=False)
    names: frozenset[str] = field(default=frozenset(), repr=False)

    def union(self, other: "Person") -> "Person":
        """Return the values of both persons, who are the same client."""
        return Person(
            self.practice_id,
            self.client_id,
            self.ids | other.ids,
            self.phones | other.phones,
            self.emails | other.emails,
            self.names | other.names,
        )


def look_up(warehouse: Warehouse, practice_id: str, client_id: str) -> Person:
    """Collect the values by which a client is found; only the id if the client was forgotten before.

    A telephone number that another client has too, in any spelling, is left out: it stays in that client's rows.
    So is one that says that the number was withheld: it stands in the calls of strangers.

    Raise `WrongUse` if no row names this client, and nobody with this id was forgotten.
    """
    with warehouse.reading() as connection:
        rows = _PracticeRows(connection, tuple(warehouse.tables.values()), practice_id)
        ids = {client_id} | rows.values(("remote_id", "remote_client_id"), {client_id})
        if client_id not in rows.values(("id", *IDS), {client_id}):
            mentions = warehouse.pseudonyms.by_practice.get(practice_id)
            if mentions is None or mentions.identity(client_id) is None:
                raise WrongUse(f"--client: no row of practice {practice_id} names this client")
        phones = _spellings(connection, practice_id, rows.values(PHONES, ids))
        others = rows.phones_of_others(ids)
        names = rows.names(ids) | rows.values(("client_name",), ids)
        return Person(
            practice_id,
            client_id,
            frozenset(ids),
            frozenset(phone for phone in phones if not is_withheld(phone) and not _is_among(phone, others)),
            frozenset(rows.values(EMAILS, ids)),
            frozenset(name for name in names if len(name.split()) > 1),
        )


def pattern_of(person: Person) -> str | None:
    """Return a regular expression that matches each text with a mention, and few others; `None` without values."""
    if len(person.ids | person.names | person.phones | person.emails) == 1:
        return None
    words: set[str] = set()
    for value in (*person.names, *person.emails, *(item for item in person.ids if len(item) >= ID_IN_TEXT)):
        if longest := max(re.findall(r"[A-Za-z0-9]+", value), key=len, default=""):
            words.add(longest)
    digits = {r"\D{0,4}".join(national(spelling, None)[-4:]) for spelling in person.phones}
    return f"(?i){'|'.join(sorted(item for item in (*words, *digits, _NOT_ASCII) if item))}"


def client_columns(table: RawTable) -> list[str]:
    """Return the columns of a table that hold ids of clients."""
    own = ["id", "remote_id"] if table.endpoint.table == "clients" else []
    return own + [column for column in IDS if table.has(column)]


@dataclass(frozen=True, slots=True)
class _PracticeRows:
    """The rows of raw and history of one practice."""

    connection: Connection
    tables: Sequence[RawTable]
    practice_id: str

    def values(self, columns: Iterable[str], ids: set[str]) -> set[str]:
        """Return the values of these columns in rows of these ids."""
        values: set[str] = set()
        for table, keys in self._tables():
            for column in columns:
                if table.has(column) and (column != "id" or "id" in keys):
                    values |= self._select(table, quoted(column), _any_of(keys), ids)
        return values

    def phones_of_others(self, ids: set[str]) -> set[str]:
        """Return the telephone numbers of rows that name another client."""
        phones: set[str] = set()
        for table, keys in self._tables():
            for column in PHONES:
                if table.has(column):
                    other = f"{quoted(keys[0])} is not null and not ({_any_of(keys)})"
                    phones |= self._select(table, quoted(column), other, ids)
        return phones

    def names(self, ids: set[str]) -> set[str]:
        """Return the names of the client's own row, and full names of appointments.

        The column `name` of other lists is that of a pet.
        """
        full_name = "client_first_name || ' ' || client_last_name"
        names = {"clients": "name", "appointments": full_name}
        named = [(table, keys) for table, keys in self._tables() if table.endpoint.table in names]
        return {
            name
            for table, keys in named
            for name in self._select(table, names[table.endpoint.table], _any_of(keys), ids)
        }

    def _tables(self) -> list[tuple[RawTable, list[str]]]:
        """Return the tables that name clients, with the columns that do."""
        return [(table, keys) for table in self.tables if (keys := client_columns(table))]

    def _select(self, table: RawTable, value: str, where: str, ids: set[str]) -> set[str]:
        rows = f"practice_id = $practice and ({where})"
        values = self.connection.execute(
            f"select {value} from {table.raw} where {rows} union select {value} from {table.history} where {rows}",
            {"practice": self.practice_id, "ids": list(ids)},
        ).fetchall()
        return {value for (value,) in values if value}


def _any_of(columns: Iterable[str]) -> str:
    return " or ".join(f"coalesce(list_contains($ids, {quoted(column)}), false)" for column in columns)


def _is_among(phone: str, others: set[str]) -> bool:
    """Return whether a number is among others in any spelling; without area code, only in the same spelling."""
    digits = national(phone, None).lstrip("0")
    is_whole = len(digits) > _LOCAL_DIGITS
    return phone in others or (is_whole and any(re.sub(r"\D", "", other).endswith(digits) for other in others))


def _spellings(connection: Connection, practice_id: str, phones: set[str]) -> set[str]:
    """Return the numbers in every spelling that this practice has stored."""
    rows = connection.execute(
        "with known as (from control.phone_numbers where practice_id = $practice),"
        " numbers as (select unnest($phones) as e164"
        " union select e164 from known where list_contains($phones, spelling))"
        " select spelling from known where e164 in (from numbers)"
        " union select e164 from numbers where e164 is not null",
        {"practice": practice_id, "phones": list(phones)},
    ).fetchall()
    return {value for (value,) in rows}


NOTE = "forgettings"

COPIES = "a copy that is not vetl's own, such as a .bak, must be removed by hand"


@dataclass(frozen=True, slots=True)
class ForgetPlan:
    """One forgetting: the person, and the pseudonym and its rows as soon as they are known."""

    person: Person
    pseudonym: str | None = None
    rows: dict[str, int] = field(default_factory=dict[str, int])
    deliveries: int = 0
    begun_at: str = ""
    left: tuple[str, ...] = ()
    """The files that still had a value of the person at the last search."""

    def is_of(self, practice_id: str, client_id: str) -> bool:
        """Return whether the plan is about this client."""
        return (self.person.practice_id, self.person.client_id) == (practice_id, client_id)


_PLANS = TypeAdapter(list[ForgetPlan])


def read_plans(warehouse: Path) -> list[ForgetPlan]:
    """Return the plans of unfinished forgettings."""
    note = read_note(warehouse, NOTE)
    try:
        return _PLANS.validate_python(note or [])
    except ValueError:
        raise WarehouseError(
            f"{notes_file(warehouse)}: names persons to be forgotten, and cannot be read: move it away, and forget"
            " them again"
        ) from None


def keep_plans(warehouse: Path, plans: Sequence[ForgetPlan]) -> None:
    """Replace the plans, or erase them if there are none."""
    write_note(warehouse, NOTE, _PLANS.dump_python(list(plans), mode="json") or None, erase=True)
