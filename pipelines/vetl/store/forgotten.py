"""Replace a person by pseudonyms in raw, history and control. The rows stay, so that no count changes.

Ids, telephone numbers and addresses become pseudonyms that join as the originals did. The person's own rows lose
their names and words. In all other rows, and in vetl's control tables, each mention is replaced. Keyed digests of
the values are stored, by which vetl recognises the person when the platform sends the values again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from secrets import randbelow, token_hex

import polars as pl

from vetl.core.endpoint import Kind
from vetl.core.published_file import FAKE_NUMBER
from vetl.store.commit import frame_of, registered_frames
from vetl.store.connection import Connection, quoted
from vetl.store.control.phone_numbers import region_by_which, region_of
from vetl.store.mentions import Known, Mentions, known_id, known_name, known_number, known_words, national
from vetl.store.person import Person, client_columns, pattern_of
from vetl.store.pseudonyms import EMAILS, GONE, PHONES, Pseudonyms, in_json, is_about
from vetl.store.tables import RawTable, row_hash
from vetl.store.warehouse import Warehouse

_ROWS_AT_ONCE = 250_000
_NEVER = "9999-12-31 00:00:00+00"
_NAMES_NOBODY = ("practice_id", "endpoint", "run_id", "id")
_UNREAD = ("forgotten", "forgotten_values", "forgotten_keys", "meta", "migrations", "builds")
"""Control tables without texts of the source."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The pseudonym of the client, and the number of rows under it by table."""

    pseudonym: str
    rows: Mapping[str, int]


def _forget(connection: Connection, tables: Sequence[RawTable], person: Person) -> Forgotten:
    """Replace a person by pseudonyms, in the open transaction."""
    replacements = _store_digests(connection, person)
    pseudonyms = Pseudonyms.load(connection)
    mentions = pseudonyms.by_practice[person.practice_id]
    pattern = pattern_of(person)
    for table in tables:
        for name in (table.raw, table.history):
            _sweep(connection, table, name, person, pseudonyms, pattern)
    _sweep_control(connection, person.practice_id, mentions, pattern)
    _rename(connection, person.practice_id, mentions, person.ids)
    _never_request(connection, person.practice_id, mentions.pseudonyms)
    pseudonym = mentions.identity(person.client_id)
    assert pseudonym
    own = _own_rows(connection, tables, person.practice_id, replacements)
    connection.execute(
        "delete from control.forgotten where practice_id = ? and pseudonym = ?", [person.practice_id, pseudonym]
    )
    connection.execute(
        "insert into control.forgotten values (?, ?, ?, now())", [person.practice_id, pseudonym, sum(own.values())]
    )
    # The next build makes all marts again: those of the last build name the person.
    connection.execute("update control.builds set fingerprint = '', is_complete = false, build_id = null")
    return Forgotten(pseudonym, own)


def _store_digests(connection: Connection, person: Person) -> dict[str, str]:
    """Store the digests of a person's values; return the pseudonym of each id, number and address."""
    practice_id = person.practice_id
    keys = connection.execute(
        "select key from control.forgotten_keys where practice_id = ?", [practice_id]
    ).fetchall()
    key = keys[0][0] if keys else token_hex(32)
    if not keys:
        connection.execute("insert into control.forgotten_keys values (?, ?)", [practice_id, key])
    secret, region = bytes.fromhex(key), _region(connection, practice_id)
    before = Pseudonyms.load(connection).by_practice.get(practice_id, Mentions(secret, ()))
    replacements: dict[str, str] = {}
    entries: list[Known] = []
    for identity in sorted(person.ids):
        replacements[identity] = before.identity(identity) or f"forgotten-{token_hex(8)}"
        entries += known_id(secret, identity, replacements[identity])
    for address in sorted(person.emails):
        replacements[address] = before.address(address) or f"forgotten-{token_hex(8)}@invalid"
        entries += known_words(secret, address, replacements[address])
    fakes: dict[str, str] = {}
    for spelling in sorted(person.phones):
        digits = national(spelling, region)
        fake = before.number(spelling) or fakes.get(digits) or f"{FAKE_NUMBER}{randbelow(10**11):011d}"
        fakes[digits] = replacements[spelling] = fake
        entries += known_number(secret, spelling, region, fake)
    for name in sorted(person.names):
        entries += known_name(secret, name)
    rows = list(dict.fromkeys((practice_id, one.kind, one.span, one.digest, one.pseudonym) for one in entries))
    connection.executemany(
        "insert into control.forgotten_values select * from (values ($1, $2, $3::integer, $4, $5))"
        " as known (practice_id, kind, span, digest, pseudonym)"
        " anti join control.forgotten_values using (practice_id, kind, span, digest)",
        rows,
    )
    return replacements


def _region(connection: Connection, practice_id: str) -> str | None:
    """Return the region by which the practice's telephone numbers are parsed."""
    read_by = connection.execute(
        "select region from control.phone_regions where practice_id = ? and region is not null", [practice_id]
    ).fetchall()
    if read_by:
        return region_by_which(read_by[0][0])
    zones = connection.execute("select time_zone from control.practices where id = ?", [practice_id]).fetchall()
    return region_of(zones[0][0]) if zones else None


def _sweep(
    connection: Connection,
    table: RawTable,
    name: str,
    person: Person,
    pseudonyms: Pseudonyms,
    pattern: str | None,
) -> None:
    """Replace the person in one table, in batches of rows."""
    [(last,)] = connection.execute(f"select coalesce(max(rowid), -1) from {name}").fetchall()
    columns = ", ".join(_selected(table))
    condition = "practice_id = $practice and rowid between $first and $last"
    parameters: dict[str, object] = {"practice": person.practice_id}
    if pattern is not None:
        texts = [f"regexp_matches({column}, $pattern)" for column in _texts(table)]
        keys = [f"list_contains($ids, {quoted(column)})" for column in client_columns(table)]
        condition += f" and ({' or '.join([*texts, *keys])})"
        parameters |= {"pattern": pattern} | ({"ids": list(person.ids)} if keys else {})
    for first in range(0, last + 1, _ROWS_AT_ONCE):
        rows = frame_of(
            connection,
            f"select rowid as _target, practice_id, {columns} from {name} where {condition}",
            params={**parameters, "first": first, "last": first + _ROWS_AT_ONCE - 1},
        )
        _write_changed(connection, table, name, rows, pseudonyms.in_rows(table, rows))


def _write_changed(
    connection: Connection, table: RawTable, name: str, before: pl.DataFrame, after: pl.DataFrame
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
    """Return SQL for the columns of a table as `row_hash` and `Pseudonyms` expect them."""
    names = [(item.name, item.kind) for item in table.columns] + [("_extra", Kind.JSON)]
    return [
        f"{quoted(name)}::varchar as {quoted(name)}" if kind is Kind.JSON else quoted(name) for name, kind in names
    ]


def _texts(table: RawTable) -> list[str]:
    kinds = (Kind.TEXT, Kind.JSON)
    return [f"{quoted(item.name)}::varchar" for item in table.columns if item.kind in kinds] + ["_extra::varchar"]


def _own_rows(
    connection: Connection,
    tables: Sequence[RawTable],
    practice_id: str,
    replacements: Mapping[str, str],
) -> dict[str, int]:
    """Return the number of rows under the pseudonyms by table."""
    own: dict[str, int] = {}
    for table in tables:
        columns = [*client_columns(table), *(name for name in (*PHONES, *EMAILS) if table.has(name))]
        for name in (table.raw, table.history):
            any_of = " or ".join(f"list_contains($replacements, {quoted(column)})" for column in columns)
            [(rows,)] = connection.execute(
                f"select count(*) from {name} where practice_id = $practice and ({any_of or 'false'})",
                {"practice": practice_id} | ({"replacements": list(replacements.values())} if columns else {}),
            ).fetchall()
            own[name.replace('"', "")] = rows
    return {name: rows for name, rows in own.items() if rows}


def _sweep_control(connection: Connection, practice_id: str, mentions: Mentions, pattern: str | None) -> None:
    spellings = connection.execute(
        "select distinct spelling from control.phone_numbers where practice_id = ?", [practice_id]
    ).fetchall()
    for (spelling,) in spellings:
        if mentions.number(spelling):
            connection.execute(
                "delete from control.phone_numbers where practice_id = ? and spelling = ?", [practice_id, spelling]
            )
    for name, column, kind, of_practices in _control_columns(connection):
        # Quarantined deliveries that name no practice are about the people in their words.
        whose = "practice_id in ($practice, '')" if of_practices else "true"
        own = {"practice": practice_id} if of_practices else {}
        is_payload = column == '"payload"'  # it may name the person by a short id alone, which no pattern has
        some = {"pattern": pattern} if pattern and not is_payload else {}
        among = f" and regexp_matches({column}::varchar, $pattern)" if some else ""
        rows = connection.execute(
            f"select distinct {column}::varchar from {name} where {whose} and {column} is not null{among}",
            own | some,
        ).fetchall()
        for (text,) in rows:
            if is_payload:
                replaced = GONE if is_about(mentions, text) else text
            else:
                replaced = in_json(mentions, text) if kind == "JSON" else mentions.replaced(text)
            if replaced != text:
                connection.execute(
                    f"update {name} set {column} = $replaced::{kind} where {whose} and {column}::varchar = $text",
                    {"replaced": replaced, "text": text} | own,
                )


def _control_columns(connection: Connection) -> list[tuple[str, str, str, bool]]:
    """Return the text columns of control: table, column, type, and whether the table has `practice_id`."""
    rows = connection.execute(
        "select table_name, column_name, data_type, table_name in (select table_name from duckdb_columns()"
        "  where database_name = current_database() and schema_name = 'control' and column_name = 'practice_id')"
        " from duckdb_columns() join duckdb_tables() using (database_name, schema_name, table_name)"
        " where database_name = current_database() and schema_name = 'control'"
        " and data_type in ('VARCHAR', 'JSON')"
        " and not list_contains($names_nobody, column_name) and not list_contains($unread, table_name)",
        {"names_nobody": list(_NAMES_NOBODY), "unread": list(_UNREAD)},
    ).fetchall()
    return [(f"control.{quoted(table)}", quoted(column), kind, whose) for table, column, kind, whose in rows]


def _rename(connection: Connection, practice_id: str, mentions: Mentions, ids: Iterable[str]) -> None:
    """Replace the ids in control tables about single clients."""
    columns = [(name, "id") for name in ("lookups", "missing_records", "mentions")]
    columns += [(name, "row_key") for name in ("restatements", "quarantine")]
    for name, key in columns:
        for real_id in ids:
            connection.execute(
                f"update control.{name} set {key} = ?"
                f" where endpoint = 'clients' and {key} = ? and practice_id = ?",
                [mentions.identity(real_id), real_id, practice_id],
            )


def _never_request(connection: Connection, practice_id: str, pseudonyms: Iterable[str]) -> None:
    """Never request a pseudonym: the platform would answer that the client does not exist."""
    parameters = {"practice": practice_id, "pseudonyms": list(pseudonyms)}
    for table in ("mentions", "missing_records", "lookups"):
        connection.execute(
            f"delete from control.{table} where practice_id = $practice and endpoint = 'clients'"
            " and list_contains($pseudonyms, id)",
            parameters,
        )
    connection.execute(
        "insert into control.lookups by name select $practice as practice_id, 'clients' as endpoint,"
        f" unnest($pseudonyms) as id, '{_NEVER}'::timestamptz as read_at",
        parameters,
    )


def rehearse(warehouse: Warehouse, person: Person) -> tuple[Mentions, Mapping[str, int]]:
    """Forget a person and undo it; return the person's mentions and the number of their rows by table."""
    with warehouse.reading() as connection:
        connection.begin()
        try:
            rows = _forget(connection, list(warehouse.tables.values()), person).rows
            return Pseudonyms.load(connection).by_practice[person.practice_id], rows
        finally:
            connection.rollback()


def forget(warehouse: Warehouse, person: Person) -> Forgotten:
    """Replace a person by pseudonyms, in one transaction. It can be repeated."""
    with warehouse.writing() as connection:
        forgotten = _forget(connection, list(warehouse.tables.values()), person)
    warehouse.people_changed()
    return forgotten
