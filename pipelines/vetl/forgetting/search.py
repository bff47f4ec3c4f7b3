"""Search a forgotten person in all files of vetl: the values of their rows, and their bytes."""

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import duckdb

from vetl import hooks
from vetl.core.errors import WarehouseError
from vetl.jobs.backups import searched_files
from vetl.publishing.contacts import contacts_file
from vetl.publishing.copies import parquet_folder
from vetl.publishing.replacing import kept
from vetl.receiving.inbox import Inbox
from vetl.settings import Settings
from vetl.settings.core_sections import WarehouseSettings
from vetl.store import drafts
from vetl.store.connection import Connection, as_vetl_errors, attached, literal, quoted
from vetl.store.mentions import ID_IN_TEXT, Mentions, national
from vetl.store.notes import notes_except, notes_file
from vetl.store.person import NOTE, Person, pattern_of
from vetl.store.pseudonyms import IDS, Pseudonyms, in_json
from vetl.store.warehouse import Place

_CHUNK = 1 << 22
_LONGEST_MATCH = 1 << 12
"""The longest value in bytes that is found across the border of two chunks."""

_DIGITS_IN_BYTES = 10
"""The fewest digits that are searched for, because a file has fewer digits by chance."""

_UNREAD = ("call_key", "content_hash", "practice", "practice_name")


def _spellings(text: str) -> set[str]:
    """Return a text as it is and as JSON spells it, with and without escapes for letters beyond ASCII."""
    return {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}


def in_bytes(file: Path, texts: Sequence[str]) -> set[str]:
    """Return the texts that a file contains, as they are or as JSON spells them."""
    spelt = {form.encode(): text for text in texts for form in _spellings(text) if text}
    if not spelt:
        return set()
    any_of = re.compile(b"|".join(re.escape(form) for form in sorted(spelt, key=len, reverse=True)))
    there: set[str] = set()
    with file.open("rb") as content:
        before = b""
        while chunk := content.read(_CHUNK):
            there.update(spelt[match[0]] for match in any_of.finditer(before + chunk))
            before = chunk[-_LONGEST_MATCH:]
    return there


def in_published(file: Path, person: Person, mentions: Mentions) -> list[str]:
    """Return the tables of a published file, or of the contacts, whose rows mention the person."""
    with as_vetl_errors(file), closing(duckdb.connect()) as connection:
        connection.execute(f"attach {literal(str(file))} as searched (read_only)")
        return list(_in_tables(connection, "searched", person, mentions))


def in_parquet(file: Path, person: Person, mentions: Mentions) -> bool:
    """Return whether a row of a Parquet file mentions the person."""
    with as_vetl_errors(file), closing(duckdb.connect()) as connection:
        source = f"read_parquet({literal(str(file))}, hive_partitioning = false)"
        columns = {name: kind for name, kind, *_ in connection.execute(f"describe from {source}").fetchall()}
        return mentioned(connection, source, columns, person, mentions, is_of_clients=False)


def elsewhere(place: Place, person: Person, texts: set[str]) -> set[str]:
    """Return the texts that rows of other practices have too, such as a name; they may stay in files.

    An id may be that of a pet too, so it also counts in rows of the same practice. `mentioned` finds rows of the
    same practice that name the client by it.
    """
    there: set[str] = set()
    if not texts:
        return there
    with attached(place.path, lock_wait_seconds=place.lock_wait_seconds) as connection:
        for _, name, columns in _tables(connection, "warehouse"):
            if "practice_id" not in columns:
                continue
            row = " || ' ' || ".join(f"coalesce({quoted(item)}::varchar, '')" for item in columns)
            for text in texts - there:
                among = "true" if text in person.ids else "practice_id <> $practice"
                parameters = {
                    f"text_{number}": spelling for number, spelling in enumerate(sorted(_spellings(text)))
                }
                found = " or ".join(f"contains({row}, ${parameter})" for parameter in parameters)
                if text not in person.ids:
                    parameters["practice"] = person.practice_id
                [(is_there,)] = connection.execute(
                    f"select exists (from {name} where {among} and ({found}))", parameters
                ).fetchall()
                if is_there:
                    there.add(text)
    return there


def _in_tables(connection: Connection, database: str, person: Person, mentions: Mentions) -> Iterator[str]:
    for table, name, columns in _tables(connection, database):
        if mentioned(connection, name, columns, person, mentions, is_of_clients=table.endswith(".clients")):
            yield table


def _tables(connection: Connection, database: str) -> list[tuple[str, str, dict[str, str]]]:
    """Return every table of an attached file: its name in messages, its name in SQL, its columns."""
    columns_by_table: dict[tuple[str, str], dict[str, str]] = {}
    for schema, table, column, kind in connection.execute(
        "select schema_name, table_name, column_name, data_type from duckdb_columns()"
        " join duckdb_tables() using (database_name, schema_name, table_name)"
        " where database_name = ? and not (schema_name = 'control' and starts_with(table_name, 'forgotten'))",
        [database],
    ).fetchall():
        columns_by_table.setdefault((schema, table), {})[column] = kind
    return [
        (f"{schema}.{table}", f"{quoted(database)}.{quoted(schema)}.{quoted(table)}", columns)
        for (schema, table), columns in columns_by_table.items()
    ]


def mentioned(
    connection: Connection,
    source: str,
    columns: dict[str, str],
    person: Person,
    mentions: Mentions,
    *,
    is_of_clients: bool,
) -> bool:
    """Return whether a text of the practice's rows mentions the person, or a column of clients' ids has theirs."""
    pattern = pattern_of(person)
    whose = "(practice_id is null or practice_id in ($practice, ''))" if "practice_id" in columns else "true"
    parameters = {"practice": person.practice_id} if "practice_id" in columns else {}
    for name, kind in columns.items():
        if kind not in ("VARCHAR", "JSON") or name in ("practice_id", "endpoint", "run_id", *_UNREAD):
            continue
        column = f"{quoted(name)}::varchar"
        if name in IDS or (is_of_clients and name == "id"):
            where, values = f"list_contains($ids, {column})", {"ids": list(person.ids)}
        elif name == "id" or name.endswith(("_id", "_key")):
            continue
        elif pattern and name != "payload":  # it may name the person by a short id alone
            where, values = f"regexp_matches({column}, $pattern)", {"pattern": pattern}
        else:
            where, values = f"{column} <> ''", {}
        texts = connection.execute(
            f"select distinct {column} from {source} where {whose} and {where}", {**parameters, **values}
        )
        while some := texts.fetchmany(10_000):
            if any(_is_mention(mentions, name, kind, text) for (text,) in some):
                return True
    return False


def _is_mention(mentions: Mentions, name: str, kind: str, text: str) -> bool:
    if name in IDS or name == "id":
        return True
    if kind == "JSON" or text[:1] in "{[":
        return in_json(mentions, text) != text
    return mentions.replaced(text) != text


def residue(settings: Settings, person: Person, mentions: Mentions) -> list[str]:
    """Return the files, with their tables if they have any, that still contain a value of a person."""
    left: list[str] = []
    private, published = settings.warehouse.path, settings.warehouse.published
    with attached(private, lock_wait_seconds=settings.warehouse.lock_wait_seconds) as connection:
        left += [f"{private}: {table}" for table in _in_tables(connection, "warehouse", person, mentions)]
    for file in (published, *kept(published), contacts_file(published)):
        left += [f"{file}: {table}" for table in (in_published(file, person, mentions) if file.exists() else ())]
    for file in sorted(parquet_folder(published).rglob("*.parquet")):
        left += [str(file)] * in_parquet(file, person, mentions)
    if settings.webhooks.inbox.exists():
        with Inbox.open(settings.webhooks.inbox) as inbox:
            about = Pseudonyms({person.practice_id: mentions}).mentions_in
            left += [str(settings.webhooks.inbox)] * bool(inbox.about(about))
    for keeper in hooks.people(settings):
        left += keeper.left(person, mentions)
    return [*dict.fromkeys([*left, *_in_bytes(settings, person)])]


def remove_leftovers(warehouse: WarehouseSettings) -> None:
    """Remove drafts and temporary rows of processes that have ended."""
    path, published = warehouse.path, warehouse.published.resolve()
    shutil.rmtree(path.with_name(f"{path.name}.tmp"), ignore_errors=True)
    for file in (path, published, contacts_file(published)):
        drafts.remove_leftovers(file)


def _in_bytes(settings: Settings, person: Person) -> Iterator[str]:
    # No file may have the bytes of these values, unless another person has them too (`elsewhere`).
    ids = [item for item in person.ids if len(item) >= ID_IN_TEXT]
    digits = [item for item in (national(phone, None) for phone in person.phones) if len(item) >= _DIGITS_IN_BYTES]
    texts = sorted({*ids, *person.phones, *digits, *person.emails, *person.names})
    path = settings.warehouse.path
    for file in searched_files(settings):
        if file.name.startswith(notes_file(path).name):
            continue  # it has the plan
        try:
            there = in_bytes(file, texts)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise WarehouseError(f"{file}: cannot be read: {error.strerror}") from None
        if there - elsewhere(settings.warehouse, person, there):
            yield str(file)
    notes = notes_except(path, NOTE)
    there = {text for text in texts if text and any(form in notes for form in _spellings(text))}
    if there - elsewhere(settings.warehouse, person, there):
        yield str(notes_file(path))
