"""Copy a mart from the private file to the published one (`target`), masked."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from vetl.core import published_file
from vetl.core.errors import WarehouseError
from vetl.core.published_file import SCHEMAS, SharedWords, Treatment, Treatments, has_source_words, schema_of
from vetl.store.connection import Connection, literal, quoted, transaction
from vetl.store.tables import columns_in

Columns = Mapping[str, str]
"""The columns of a mart and their types, in order."""

PRACTICE_NAME = "practice_name"

SHOWN = "shown_words"
"""A temporary table with the words that are published as they are."""

_MASKED = "masked "
"""The prefix of values that are published instead of a value that may name a person."""


_PHRASE = f"^({'|'.join(published_file.PHRASES)})"


@dataclass(frozen=True, slots=True)
class Masking:
    """The treatment of personal columns of marts. Without a key a hash is null.

    A value in a column of words that is not in the table `SHOWN` (in lower case) becomes `masked` and a hash by
    `salt`, so that rows which differ by that value still differ. `shared` is the rule that fills this table.
    """

    columns: Treatments
    key: str | None = field(repr=False)
    salt: str = field(default="", repr=False)
    shared: SharedWords = field(default_factory=SharedWords)

    def names(self, mart: str, columns: Columns) -> list[str]:
        """Return the personal columns of a mart, in its order."""
        unknown = sorted(self.columns[mart].keys() - columns.keys())
        if unknown:
            raise WarehouseError(
                f"{schema_of(mart)}.{mart} has no column {unknown[0]}, which is classified as personal"
            )
        return [column for column in columns if column in self.columns[mart]]

    def columns_with(self, marts: Mapping[str, Columns], treatments: Collection[Treatment]) -> tuple[str, ...]:
        """Return the personal columns with one of these treatments, such as `clients.name`."""
        return tuple(
            f"{mart}.{column}"
            for mart, columns in marts.items()
            for column in self.names(mart, columns)
            if self.columns[mart][column] in treatments
        )

    def select(self, mart: str, columns: Columns) -> tuple[str, dict[str, str]]:
        """Return SQL for the columns of a mart, and its parameters."""
        personal: dict[str, Treatment] = {name: self.columns[mart][name] for name in self.names(mart, columns)}
        practice = "practice_id" if "practice_id" in columns else "''"
        values: list[str] = []
        for name, kind in columns.items():
            value = self._published(mart, name, kind)
            if name in personal:
                scope = published_file.JOINED.get(f"{mart}.{name}", f"{mart}.{name}")
                value = self._masked(name, kind, personal[name], scope, practice)
            values.append(f"{value} as {quoted(name)}")
        statement = ", ".join(values)
        secrets: dict[str, Any] = {"key": self.key, "salt": self.salt}
        return statement, {name: value for name, value in secrets.items() if f"${name}" in statement}

    def _published(self, mart: str, column: str, kind: str) -> str:
        """Return SQL for a column that is not personal, as it is published."""
        name = quoted(column)
        if kind != "VARCHAR" or not has_source_words(mart, column):
            return name
        word = name
        if column in {"result", "reason"}:  # in other columns the pattern would cost 0.7 s for ten million rows
            word = f"regexp_replace({name}, {literal(_PHRASE)}, '')"
        code = f" or regexp_full_match({name}, {literal(published_file.CODE)})" if column == "error_code" else ""
        return (
            f"case when {name} is null or {name} = '' or lower({word}) in (from {SHOWN}){code} then {name}"
            f" else {literal(_MASKED)} || left(sha256($salt || {name}), 12) end"
        )

    def _masked(self, column: str, kind: str, treatment: Treatment, scope: str, practice: str) -> str:
        """Return SQL for a personal column; by their `scope`, hashes differ from those of other columns."""
        name = quoted(column)
        if treatment == "clear":
            return name
        if treatment == "hash" and self.key and kind == "VARCHAR":
            # The length of the practice separates it from the value, so that no two pairs give the same text.
            text = f"{literal(f'{scope}:')} || length({practice}) || ':' || {practice} || {name}"
            # Hashed twice, as in HMAC, against length extension.
            return f"sha256($key || sha256($key || {text}))"
        return f"null::{kind}"


def masked_words(connection: Connection) -> dict[str, int]:
    """Return how many different values of words are masked in each column of the published marts (`target`)."""
    masked: dict[str, int] = {}
    for mart, columns in marts_of(connection, "target").items():
        words = [name for name, kind in columns.items() if kind == "VARCHAR" and has_source_words(mart, name)]
        if words:
            counts = (
                f"count(distinct {quoted(name)}) filter (starts_with({quoted(name)}, {literal(_MASKED)}))"
                for name in words
            )
            found = connection.execute(f"select {', '.join(counts)} from target.{table_of(mart)}").fetchall()[0]
            masked |= {f"{mart}.{name}": number for name, number in zip(words, found, strict=True) if number}
    return masked


def table_of(mart: str) -> str:
    """Return the name of a published table with its schema, as SQL writes it."""
    return f"{schema_of(mart)}.{quoted(mart)}"


def marts_of(connection: Connection, database: str | None = None) -> dict[str, Columns]:
    """Return the columns and types of every mart of the default or an attached database, by name."""
    return {mart: columns for (_, mart), columns in columns_in(connection, SCHEMAS, database).items()}


def copy_mart(
    connection: Connection, mart: str, columns: Columns, masking: Masking, *, with_names: bool
) -> Columns:
    """Copy a mart to the target, without comments, and return its columns there.

    `with_names`: the practice's name comes in beside its id. No model has it, so one join here is enough, and no
    mart is built again because a practice has another name.
    """
    values, parameters = masking.select(mart, columns)
    source = f"select {values} from {table_of(mart)}"
    if with_names and mart != "practices" and "practice_id" in columns and PRACTICE_NAME not in columns:
        names = [*columns]
        names.insert(names.index("practice_id") + 1, PRACTICE_NAME)
        columns = {name: columns.get(name, "VARCHAR") for name in names}
        source = (
            f"select {', '.join(map(quoted, names))} from ({source})"
            f" left join (select practice_id, name as {PRACTICE_NAME} from marts.practices) using (practice_id)"
        )
    connection.execute(f"create table target.{table_of(mart)} as {source}", parameters)
    if PRACTICE_NAME in columns:
        place = f"column target.{table_of(mart)}.{PRACTICE_NAME}"
        connection.execute(f"comment on {place} is 'The name of the practice.'")
    return columns


def count(connection: Connection, database: str, mart: str) -> int:
    """Return the number of rows of a mart in an attached file."""
    return connection.execute(f"select count(*) from {database}.{table_of(mart)}").fetchall()[0][0]


def copy_comments(connection: Connection, marts: Collection[str]) -> None:
    """Copy the comments on these marts and their columns, in one transaction: a thousand would take a second."""
    of_marts = (
        "where database_name = current_database() and schema_name in ('marts', 'meta') and comment is not null"
    )
    comments = connection.execute(
        f"select table_name, null as column_name, comment from duckdb_tables() {of_marts}"
        f" union all select view_name, null, comment from duckdb_views() {of_marts}"
        f" union all select table_name, column_name, comment from duckdb_columns() {of_marts}"
    ).fetchall()
    with transaction(connection):
        for mart, column, comment in comments:
            if mart in marts:
                table = f"target.{table_of(mart)}"
                place = f"column {table}.{quoted(column)}" if column else f"table {table}"
                connection.execute(f"comment on {place} is {literal(comment)}")
