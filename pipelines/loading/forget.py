"""A person leaves raw, history and control. Their rows stay, under pseudonyms: every count is as before.

Ids, telephone numbers and addresses become pseudonyms that join as the originals did. In the person's own rows
names and words go; in everybody else's rows, and in what vetl keeps of its own work, each mention is replaced.
Keyed digests of the values stay, by which the person is recognised when the platform sends them again.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from secrets import randbelow, token_hex

import duckdb
import polars as pl

from pipelines.core.endpoint import Kind
from pipelines.core.errors import WrongUse
from pipelines.loading.connection import quoted
from pipelines.loading.context import frame_of, registered_frames
from pipelines.loading.control.phone_numbers import region_of
from pipelines.loading.mentions import (
    ID_IN_TEXT,
    Known,
    Mentions,
    known_email,
    known_id,
    known_name,
    known_number,
    national,
)
from pipelines.loading.pseudonyms import EMAILS, GONE, IDS, PHONES, Pseudonyms, in_json
from pipelines.loading.tables import RawTable, row_hash

FAKE_NUMBER = "+999"
"""How the pseudonym of a telephone number begins: no country has this code."""

_ROWS_AT_ONCE = 250_000
_NEVER = "9999-12-31 00:00:00+00"
_NOT_ASCII = r"[^\x00-\x7F]|\\u[0-9a-fA-F]{4}"
"""A letter that may be written in several ways: such texts are all looked at closely."""

_NAMES_NOBODY = ("practice_id", "endpoint", "run_id", "id")
_UNREAD = ("forgotten", "forgotten_values", "forgotten_keys", "meta", "migrations", "builds", "building")
"""Tables of control that hold no text of the source."""


@dataclass(frozen=True, slots=True)
class Person:
    """A client of a practice, and the values by which they are found: as the rows that are here have them."""

    practice_id: str
    client_id: str
    ids: frozenset[str] = field(repr=False)
    phones: frozenset[str] = field(default=frozenset(), repr=False)
    emails: frozenset[str] = field(default=frozenset(), repr=False)
    names: frozenset[str] = field(default=frozenset(), repr=False)
    shared: frozenset[str] = field(default=frozenset(), repr=False)
    """Those of the ids that something else, such as a pet, has too."""

    def together(self, other: "Person") -> "Person":
        """The values of both, which are of the same client."""
        return Person(
            self.practice_id,
            self.client_id,
            self.ids | other.ids,
            self.phones | other.phones,
            self.emails | other.emails,
            self.names | other.names,
            self.shared | other.shared,
        )


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was done: the pseudonym of the client, and how many rows stay under it, by table."""

    pseudonym: str
    rows: Mapping[str, int]


def look_up(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[RawTable], practice_id: str, client_id: str
) -> Person:
    """Collect the values by which a client is found. Of one who was forgotten before, the id alone is left.

    A telephone number that is another client's too is left out: it is that one's.

    Raises:
        WrongUse: no row names this client, and nobody with this id was forgotten.
    """
    there = _Held(connection, tables, practice_id)
    ids = {client_id} | there.values(("remote_id", "remote_client_id"), {client_id})
    if client_id not in there.values(("id", *IDS), {client_id}):
        known = Pseudonyms.load(connection).by_practice.get(practice_id)
        if known is None or known.identity(client_id) is None:
            raise WrongUse(f"--client: no row of practice {practice_id} names this client")
    phones = _spellings(connection, practice_id, there.values(PHONES, ids)) - there.others_phones(ids)
    names = there.values(("name", "client_name"), ids) | there.full_names(ids)
    return Person(
        practice_id,
        client_id,
        frozenset(ids),
        frozenset(phones),
        frozenset(there.values(EMAILS, ids)),
        frozenset(name for name in names if len(name.split()) > 1),
        frozenset(there.ids_of_other_things(ids)),
    )


def forget(connection: duckdb.DuckDBPyConnection, tables: Sequence[RawTable], person: Person) -> Forgotten:
    """Put pseudonyms in the place of a person, in the transaction that is open. It can be repeated."""
    known = _list(connection, person)
    pseudonyms = Pseudonyms.load(connection)
    mentions = pseudonyms.by_practice[person.practice_id]
    pattern = pattern_of(person)
    for table in tables:
        for name in (table.raw, table.history):
            _sweep(connection, table, name, person, pseudonyms, pattern)
    _sweep_control(connection, person.practice_id, mentions, pattern)
    _rename(connection, person.practice_id, mentions, person.ids)
    _never_ask(connection, person.practice_id, mentions.pseudonyms)
    pseudonym = mentions.identity(person.client_id)
    assert pseudonym
    own = _own_rows(connection, tables, person.practice_id, known)
    connection.execute(
        "delete from control.forgotten where practice_id = ? and pseudonym = ?", [person.practice_id, pseudonym]
    )
    connection.execute(
        "insert into control.forgotten values (?, ?, ?, now())", [person.practice_id, pseudonym, sum(own.values())]
    )
    # The marts of before are of another person's rows.
    connection.execute("update control.builds set fingerprint = '', is_complete = false, build_id = null")
    return Forgotten(pseudonym, own)


def forget_unplaced(connection: duckdb.DuckDBPyConnection, mentions: Mentions) -> None:
    """Empty the payloads of quarantined deliveries that name no practice and mention somebody."""
    rows = connection.execute(
        "select row_key, payload from control.quarantine where practice_id = '' and payload <> ?", [GONE]
    ).fetchall()
    everybody = Pseudonyms({"": mentions})
    for key, payload in rows:
        if everybody.mentions_in("", payload):
            connection.execute(
                "update control.quarantine set payload = ? where practice_id = '' and row_key = ? and payload = ?",
                [GONE, key, payload],
            )


def _list(connection: duckdb.DuckDBPyConnection, person: Person) -> dict[str, str]:
    """Keep the digests of a person's values; returns the pseudonym of each id, number and address."""
    practice_id = person.practice_id
    keys = connection.execute(
        "select key from control.forgotten_keys where practice_id = ?", [practice_id]
    ).fetchall()
    key = keys[0][0] if keys else token_hex(32)
    if not keys:
        connection.execute("insert into control.forgotten_keys values (?, ?)", [practice_id, key])
    secret, region = bytes.fromhex(key), _region(connection, practice_id)
    before = Pseudonyms.load(connection).by_practice.get(practice_id, Mentions(secret, ()))
    shown: dict[str, str] = {}
    known: list[Known] = []
    for identity in sorted(person.ids):
        shown[identity] = before.identity(identity) or f"forgotten-{token_hex(8)}"
        known += known_id(secret, identity, shown[identity])
    for address in sorted(person.emails):
        shown[address] = before.address(address) or f"forgotten-{token_hex(8)}@invalid"
        known += known_email(secret, address, shown[address])
    fakes: dict[str, str] = {}
    for spelling in sorted(person.phones):
        digits = national(spelling, region)
        fake = before.number(spelling) or fakes.get(digits) or f"{FAKE_NUMBER}{randbelow(10**11):011d}"
        fakes[digits] = shown[spelling] = fake
        known += known_number(secret, spelling, region, fake)
    for name in sorted(person.names):
        known += known_name(secret, name)
    rows = list(dict.fromkeys((practice_id, one.kind, one.span, one.digest, one.pseudonym) for one in known))
    connection.executemany(
        "insert into control.forgotten_values select * from (values ($1, $2, $3::integer, $4, $5))"
        " as known (practice_id, kind, span, digest, pseudonym)"
        " anti join control.forgotten_values using (practice_id, kind, span, digest)",
        rows,
    )
    return shown


def _region(connection: duckdb.DuckDBPyConnection, practice_id: str) -> str | None:
    """The region by which the practice's telephone numbers are read."""
    rows = connection.execute(
        "select region from control.phone_regions where practice_id = ?", [practice_id]
    ).fetchall() or connection.execute(
        "select time_zone from control.practices where id = ?", [practice_id]
    ).fetchall()
    value = rows[0][0] if rows else None
    return region_of(value) if value and "/" in value else value


def pattern_of(person: Person) -> str | None:
    """A regular expression that each text with a mention matches, and few others; none if the values are not known."""
    if not person.names | person.phones | person.emails and person.ids == {person.client_id}:
        return None
    words: set[str] = set()
    for value in (*person.names, *person.emails, *(item for item in person.ids if len(item) >= ID_IN_TEXT)):
        if longest := max(re.findall(r"[A-Za-z0-9]+", value), key=len, default=""):
            words.add(longest)
    digits = {r"\D{0,4}".join(national(spelling, None)[-4:]) for spelling in person.phones}
    return f"(?i){'|'.join(sorted(item for item in (*words, *digits, _NOT_ASCII) if item))}"


def _sweep(
    connection: duckdb.DuckDBPyConnection,
    table: RawTable,
    name: str,
    person: Person,
    pseudonyms: Pseudonyms,
    pattern: str | None,
) -> None:
    """Replace the person in one table, some rows at a time."""
    [(last,)] = connection.execute(f"select coalesce(max(rowid), -1) from {name}").fetchall()
    columns = ", ".join(_selected(table))
    condition = "practice_id = $practice and rowid between $first and $last"
    given: dict[str, object] = {"practice": person.practice_id}
    if pattern is not None:
        texts = [f"regexp_matches({column}, $pattern)" for column in _texts(table)]
        keys = [f"list_contains($ids, {quoted(column)})" for column in _keys(table)]
        condition += f" and ({' or '.join([*texts, *keys])})"
        given |= {"pattern": pattern} | ({"ids": list(person.ids)} if keys else {})
    for first in range(0, last + 1, _ROWS_AT_ONCE):
        rows = frame_of(
            connection,
            f"select rowid as _target, practice_id, {columns} from {name} where {condition}",
            params={**given, "first": first, "last": first + _ROWS_AT_ONCE - 1},
        )
        _write_changed(connection, table, name, rows, pseudonyms.in_rows(table, rows))


def _write_changed(
    connection: duckdb.DuckDBPyConnection, table: RawTable, name: str, before: pl.DataFrame, after: pl.DataFrame
) -> None:
    differs = [item for item in after.columns if not before[item].equals(after[item])]
    if not differs:
        return
    changed = after.filter(pl.any_horizontal(before[item].ne_missing(after[item]) for item in differs))
    json = {item.name for item in table.columns if item.kind is Kind.JSON} | {"_extra"}
    values = ", ".join(
        f"{quoted(item)} = changed.{quoted(item)}{'::json' if item in json else ''}" for item in differs
    )
    with registered_frames(connection, changed=changed):
        connection.execute(
            f"update {name} as stored set {values}, _row_hash = {row_hash(table.hashed, 'changed')}"
            " from changed where stored.rowid = changed._target"
        )


def _selected(table: RawTable) -> list[str]:
    """The columns of a table as `row_hash` and `Pseudonyms` take them."""
    names = [(item.name, item.kind) for item in table.columns] + [("_extra", Kind.JSON)]
    return [f"{quoted(name)}::varchar as {quoted(name)}" if kind is Kind.JSON else quoted(name) for name, kind in names]


def _texts(table: RawTable) -> list[str]:
    kinds = (Kind.TEXT, Kind.JSON)
    return [f"{quoted(item.name)}::varchar" for item in table.columns if item.kind in kinds] + ["_extra::varchar"]


def _keys(table: RawTable) -> list[str]:
    """The columns of a table that name a client."""
    own = ["id", "remote_id"] if table.endpoint.table == "clients" else []
    return own + [column for column in IDS if table.has(column)]


def _own_rows(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[RawTable], practice_id: str, known: Mapping[str, str]
) -> dict[str, int]:
    """How many rows stay under the pseudonyms, by table."""
    own: dict[str, int] = {}
    for table in tables:
        columns = [*_keys(table), *(name for name in (*PHONES, *EMAILS) if table.has(name))]
        for name in (table.raw, table.history):
            any_of = " or ".join(f"list_contains($shown, {quoted(column)})" for column in columns)
            [(rows,)] = connection.execute(
                f"select count(*) from {name} where practice_id = $practice and ({any_of or 'false'})",
                {"practice": practice_id} | ({"shown": list(known.values())} if columns else {}),
            ).fetchall()
            own[name.replace('"', "")] = rows
    return {name: rows for name, rows in own.items() if rows}


def _sweep_control(
    connection: duckdb.DuckDBPyConnection, practice_id: str, mentions: Mentions, pattern: str | None
) -> None:
    """Replace the person in what vetl keeps of its own work."""
    spellings = connection.execute(
        "select distinct spelling from control.phone_numbers where practice_id = ?", [practice_id]
    ).fetchall()
    for (spelling,) in spellings:
        if mentions.number(spelling):
            connection.execute(
                "delete from control.phone_numbers where practice_id = ? and spelling = ?", [practice_id, spelling]
            )
    everybody = Pseudonyms({practice_id: mentions})
    for name, column, kind, of_practices in _control_columns(connection):
        whose = f"practice_id = {'$practice'}" if of_practices else "true"
        among = f" and regexp_matches({column}::varchar, $pattern)" if pattern else ""
        given = ({"practice": practice_id} if of_practices else {}) | ({"pattern": pattern} if pattern else {})
        rows = connection.execute(
            f"select distinct {column}::varchar from {name} where {whose} and {column} is not null{among}", given
        ).fetchall()
        for (text,) in rows:
            if column == '"payload"':
                shown = GONE if everybody.mentions_in(practice_id, text) else text
            else:
                shown = in_json(mentions, text) if kind == "JSON" else mentions.replaced(text)
            if shown != text:
                connection.execute(
                    f"update {name} set {column} = $shown::{kind} where {whose} and {column}::varchar = $text",
                    {"shown": shown, "text": text} | ({"practice": practice_id} if of_practices else {}),
                )
    forget_unplaced(connection, mentions)


def _control_columns(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str, str, bool]]:
    """The columns of control that hold texts: table, column, type, and whether its rows are of practices."""
    rows = connection.execute(
        "select table_name, column_name, data_type, table_name in (select table_name from duckdb_columns()"
        "  where database_name = current_database() and schema_name = 'control' and column_name = 'practice_id')"
        " from duckdb_columns() join duckdb_tables() using (database_name, schema_name, table_name)"
        " where database_name = current_database() and schema_name = 'control' and data_type in ('VARCHAR', 'JSON')"
        " and not list_contains($names_nobody, column_name) and not list_contains($unread, table_name)",
        {"names_nobody": list(_NAMES_NOBODY), "unread": list(_UNREAD)},
    ).fetchall()
    return [(f"control.{quoted(table)}", quoted(column), kind, whose) for table, column, kind, whose in rows]


def _rename(
    connection: duckdb.DuckDBPyConnection, practice_id: str, mentions: Mentions, ids: Iterable[str]
) -> None:
    """Replace the ids in the tables of control that are about single clients."""
    columns = [(name, "id") for name in ("lookups", "missing_records", "mentions")]
    columns += [(name, "row_key") for name in ("restatements", "quarantine")]
    for name, key in columns:
        for real_id in ids:
            connection.execute(
                f"update control.{name} set {key} = ?"
                f" where endpoint = 'clients' and {key} = ? and practice_id = ?",
                [mentions.identity(real_id), real_id, practice_id],
            )


def _never_ask(connection: duckdb.DuckDBPyConnection, practice_id: str, pseudonyms: Iterable[str]) -> None:
    """The platform does not know the pseudonyms: asked for one, it would say that the client is gone."""
    given = {"practice": practice_id, "pseudonyms": list(pseudonyms)}
    for table in ("mentions", "missing_records", "lookups"):
        connection.execute(
            f"delete from control.{table} where practice_id = $practice and endpoint = 'clients'"
            " and list_contains($pseudonyms, id)",
            given,
        )
    connection.execute(
        "insert into control.lookups by name select $practice as practice_id, 'clients' as endpoint,"
        f" unnest($pseudonyms) as id, '{_NEVER}'::timestamptz as read_at",
        given,
    )


@dataclass(frozen=True, slots=True)
class _Held:
    """The rows of raw and history of one practice."""

    connection: duckdb.DuckDBPyConnection
    tables: Sequence[RawTable]
    practice_id: str

    def values(self, columns: Iterable[str], ids: set[str]) -> set[str]:
        """The values of these columns in rows of these ids."""
        held: set[str] = set()
        for table, name in self._each():
            keys = _keys(table)
            for column in columns:
                if keys and table.has(column) and (column != "id" or "id" in keys):
                    held |= self._ask(f"select {quoted(column)} from {name} where", _any_of(keys, "ids"), ids=ids)
        return held

    def others_phones(self, ids: set[str]) -> set[str]:
        """The telephone numbers of rows that name another client."""
        phones: set[str] = set()
        for table, name in self._each():
            id_column = next((key for key in _keys(table) if table.has(key)), None)
            for column in PHONES:
                if id_column and table.has(column):
                    other = f"{id_column} is not null and not ({_any_of(_keys(table), 'ids')})"
                    phones |= self._ask(f"select {quoted(column)} from {name} where", other, ids=ids)
        return phones

    def full_names(self, ids: set[str]) -> set[str]:
        """First and last names that stand in two columns, in one."""
        both = "client_first_name || ' ' || client_last_name"
        return {
            value
            for schema in ("raw", "history")
            for value in self._ask(
                f"select {both} from {schema}.appointments where", _any_of(("remote_client_id",), "ids"), ids=ids
            )
        }

    def ids_of_other_things(self, ids: set[str]) -> set[str]:
        """Those of the ids that a pet, a task or anything else has too."""
        shared: set[str] = set()
        for table, name in self._each():
            others = [item.name for item in table.columns if item.name == "id" or item.name.endswith("_id")]
            for column in set(others).difference(_keys(table)):
                shared |= self._ask(f"select {quoted(column)} from {name} where", _any_of([column], "ids"), ids=ids)
        return shared

    def _each(self) -> Iterable[tuple[RawTable, str]]:
        return ((table, name) for table in self.tables for name in (table.raw, table.history))

    def _ask(self, select: str, where: str, **given: set[str]) -> set[str]:
        rows = self.connection.execute(
            f"{select} practice_id = $practice and ({where})",
            {"practice": self.practice_id, **{name: list(values) for name, values in given.items()}},
        ).fetchall()
        return {value for (value,) in rows if value}


def _any_of(columns: Iterable[str], among: str) -> str:
    return (
        " or ".join(f"coalesce(list_contains(${among}, {quoted(column)}), false)" for column in columns) or "false"
    )


def _spellings(connection: duckdb.DuckDBPyConnection, practice_id: str, phones: set[str]) -> set[str]:
    """The numbers in every spelling that this practice uses for them."""
    rows = connection.execute(
        "with known as (from control.phone_numbers where practice_id = $practice),"
        " numbers as (select unnest($phones) as e164"
        " union select e164 from known where list_contains($phones, spelling))"
        " select spelling from known where e164 in (from numbers)"
        " union select e164 from numbers where e164 is not null",
        {"practice": practice_id, "phones": list(phones)},
    ).fetchall()
    return {value for (value,) in rows}
