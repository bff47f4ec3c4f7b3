"""A person leaves raw, history and control. Their rows stay, under pseudonyms: every count is as before.

Ids, telephone numbers and addresses become pseudonyms that join as the originals did. In the person's own rows
names and words go; in everybody else's rows, and in what vetl keeps of its own work, each mention is replaced.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from secrets import randbelow, token_hex

import duckdb

from pipelines.core.errors import WrongUse
from pipelines.loading.connection import quoted
from pipelines.loading.tables import RawTable, row_hash

_IDS = ("client_id", "remote_client_id")
_PHONES = ("phone", "phone_number", "client_phone", "contact_number")
_EMAILS = ("email", "client_email")
_NAMES = ("name", "client_name", "client_first_name", "client_last_name", "patient_name")
_WORDS = (
    *("summary", "title", "description", "override_completion_action_text", "context", "error_message"),
    *("outcome_detail", "custom_fields", "body", "_extra"),
)
_LISTS = ("patients", "reminders")
"""How many things these hold is counted, so that they stay as long as they are."""

_SET_ASIDE, _GONE = ('control."quarantine"', '"payload"'), '{"forgotten": true}'
"""A payload in quarantine goes whole where it mentions the person: it is text of unknown shape."""

_LONG = 8
"""Characters of an id that no other text holds by chance; a shorter one is looked for in columns of ids alone."""

FAKE_NUMBER = "+999"
"""How the pseudonym of a telephone number begins: no country has this code."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was done: the pseudonym of the client, own rows by table, and `mentions`, by which copies are found."""

    pseudonym: str
    rows: Mapping[str, int]
    mentions: tuple[str, ...]


def forget(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[RawTable], practice_id: str, client_id: str
) -> Forgotten:
    """Put pseudonyms in the place of a client of a practice, in the transaction that is open.

    A telephone number that is another client's too stays: it is that one's.

    Raises:
        WrongUse: no row names this client.
    """
    there = _Rows(connection, tables, practice_id)
    ids = {client_id} | there.values(("remote_id", "remote_client_id"), {client_id})
    if client_id not in there.values(("id", *_IDS), {client_id}):
        raise WrongUse(f"--client: no row of practice {practice_id} names this client")
    phones = _spellings(connection, practice_id, there.values(_PHONES, ids)) - there.others_phones(ids)
    emails = there.values(_EMAILS, ids)
    names = there.values(("name", "client_name"), ids) | there.full_names(ids)
    pseudonyms = {
        **{name: "forgotten" for name in names if " " in name.strip()},
        **{email: f"forgotten-{token_hex(8)}@invalid" for email in emails},
        **_fake_numbers(connection, practice_id, phones),
        **{real_id: f"forgotten-{token_hex(8)}" for real_id in ids},
    }
    own = there.strip(ids, phones, emails)
    there.rename({real_id: pseudonyms[real_id] for real_id in ids})
    in_texts = {text: shown for text, shown in pseudonyms.items() if text not in ids or len(text) >= _LONG}
    _replace_mentions(connection, practice_id, in_texts)
    there.hash_anew()
    _never_ask(connection, pseudonyms[client_id])
    connection.execute(
        "insert into control.forgotten values (?, ?, ?, now())",
        [practice_id, pseudonyms[client_id], sum(own.values())],
    )
    # The marts of before are of another person's rows.
    connection.execute("update control.builds set fingerprint = '', is_complete = false, build_id = null")
    return Forgotten(pseudonyms[client_id], own, tuple(pseudonyms))


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of raw and history of one practice."""

    connection: duckdb.DuckDBPyConnection
    tables: Sequence[RawTable]
    practice_id: str

    def values(self, columns: Iterable[str], ids: set[str]) -> set[str]:
        """What rows of these ids hold in these columns."""
        held: set[str] = set()
        for table, name in self._each():
            keys = self._keys(table)
            for column in columns:
                if keys and table.has(column) and (column != "id" or "id" in keys):
                    held |= self._ask(f"select {quoted(column)} from {name} where", _any_of(keys, "ids"), ids=ids)
        return held

    def others_phones(self, ids: set[str]) -> set[str]:
        """The telephone numbers of rows that name another client."""
        phones: set[str] = set()
        for table, name in self._each():
            id_column = next((key for key in self._keys(table) if table.has(key)), None)
            for column in _PHONES:
                if id_column and table.has(column):
                    other = f"{id_column} is not null and not ({_any_of(self._keys(table), 'ids')})"
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

    def strip(self, ids: set[str], phones: set[str], emails: set[str]) -> dict[str, int]:
        """Take names and words out of the person's own rows; returns how many rows those are, by table."""
        given = {"practice": self.practice_id, "ids": list(ids), "phones": list(phones), "emails": list(emails)}
        own: dict[str, int] = {}
        for table, name in self._each():
            conditions = [
                _any_of([column for column in columns if column in keys], among)
                for keys, columns, among in (
                    (self._keys(table), self._keys(table), "ids"),
                    ([column for column in _PHONES if table.has(column)], _PHONES, "phones"),
                    ([column for column in _EMAILS if table.has(column)], _EMAILS, "emails"),
                )
            ]
            where = f"practice_id = $practice and ({' or '.join(conditions)})"
            used = {key: value for key, value in given.items() if f"${key}" in where}
            own[name.replace('"', "")] = self.connection.execute(
                f"select count(*) from {name} where {where}", used
            ).fetchall()[0][0]
            settings = [f"{quoted(column)} = null" for column in (*_NAMES, *_WORDS) if self._holds(table, column)]
            settings += [
                f"{column} = to_json(list_transform(json_extract({column}, '$[*]'), lambda one: '{{}}'::json))"
                for column in _LISTS
                if table.has(column)
            ]
            self.connection.execute(f"update {name} set {', '.join(settings)} where {where}", used)
        return {name: rows for name, rows in own.items() if rows}

    def rename(self, pseudonyms: Mapping[str, str]) -> None:
        """The ids, in the columns that hold them."""
        columns = [(name, key, "true") for table, name in self._each() for key in self._keys(table)]
        columns += [
            (f"control.{name}", key, "endpoint = 'clients'")
            for name, key in (("lookups", "id"), ("missing_records", "id"), ("mentions", "id"))
        ]
        columns += [
            (f"control.{name}", "row_key", "endpoint = 'clients'") for name in ("restatements", "quarantine")
        ]
        for name, key, where in columns:
            for real_id, shown in pseudonyms.items():
                self.connection.execute(
                    f"update {name} set {key} = ? where {where} and {key} = ? and practice_id = ?",
                    [shown, real_id, self.practice_id],
                )

    def hash_anew(self) -> None:
        """`_row_hash` covers what has changed now."""
        for table, name in self._each():
            anew = row_hash(table.hashed, "stored")
            self.connection.execute(
                f"update {name} as stored set _row_hash = {anew}"
                f" where practice_id = $practice and _row_hash <> {anew}",
                {"practice": self.practice_id},
            )

    def _each(self) -> Iterable[tuple[RawTable, str]]:
        return ((table, name) for table in self.tables for name in (table.raw, table.history))

    def _keys(self, table: RawTable) -> list[str]:
        """The columns of a table that name a client."""
        own = ["id", "remote_id"] if table.endpoint.table == "clients" else []
        return own + [column for column in _IDS if table.has(column)]

    def _holds(self, table: RawTable, column: str) -> bool:
        return table.has(column) or column == "_extra"

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


def _fake_numbers(connection: duckdb.DuckDBPyConnection, practice_id: str, phones: set[str]) -> dict[str, str]:
    """One number that nobody has for each number, whatever its spelling."""
    stands_for = dict(
        connection.execute(
            "select spelling, e164 from control.phone_numbers where practice_id = ? and e164 is not null",
            [practice_id],
        ).fetchall()
    )
    fakes: dict[str, str] = {}
    for spelling in phones:
        number = stands_for.get(spelling, spelling)
        fakes.setdefault(number, f"{FAKE_NUMBER}{randbelow(10**11):011d}")
    return {spelling: fakes[stands_for.get(spelling, spelling)] for spelling in phones}


def _replace_mentions(
    connection: duckdb.DuckDBPyConnection, practice_id: str, pseudonyms: Mapping[str, str]
) -> None:
    """Each mention in any text of the practice in raw, history and control, also as JSON writes it."""
    spelt = {**pseudonyms, **{json.dumps(text)[1:-1]: shown for text, shown in pseudonyms.items()}}
    longest_first = sorted(spelt, key=len, reverse=True)
    shown = [spelt[text] for text in longest_first]
    any_of = "|".join(f"({re.escape(text)})" for text in longest_first)
    mention = re.compile(rf"(?<![\w-])(?:{any_of})(?![\w-])", re.IGNORECASE)
    connection.execute(
        "delete from control.phone_numbers where practice_id = ? and list_contains(?, spelling)",
        [practice_id, longest_first],
    )
    for name, column, kind in _text_columns(connection):
        # Inside of longer words too: DuckDB is quick at that, and few texts are left to look at closely.
        texts = connection.execute(
            f"select distinct {column}::varchar from {name}"
            f" where practice_id = ? and regexp_matches({column}::varchar, ?)",
            [practice_id, f"(?i){any_of}"],
        ).fetchall()
        for (text,) in texts:
            if not mention.search(text):
                continue
            is_payload = (name, column) == _SET_ASIDE
            anew = _GONE if is_payload else mention.sub(lambda match: shown[(match.lastindex or 0) - 1], text)
            connection.execute(
                f"update {name} set {column} = ?::{kind} where practice_id = ? and {column}::varchar = ?",
                [anew, practice_id, text],
            )


def _text_columns(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str, str]]:
    """The columns of texts in tables of practices: table, column, type."""
    rows = connection.execute(
        "select schema_name, table_name, column_name, data_type from duckdb_columns() as columns"
        " where database_name = current_database() and schema_name in ('raw', 'history', 'control')"
        " and data_type in ('VARCHAR', 'JSON') and column_name <> 'practice_id'"
        " and (schema_name, table_name) in (select (schema_name, table_name) from duckdb_columns()"
        " where database_name = current_database() and column_name = 'practice_id')"
    ).fetchall()
    return [(f"{schema}.{quoted(table)}", quoted(column), kind) for schema, table, column, kind in rows]


def _never_ask(connection: duckdb.DuckDBPyConnection, pseudonym: str) -> None:
    """The platform does not know the pseudonym: asked for it, it would say that the client is gone."""
    connection.execute("delete from control.mentions where id = ?", [pseudonym])
    connection.execute("update control.lookups set read_at = '9999-12-31 00:00:00+00' where id = ?", [pseudonym])
