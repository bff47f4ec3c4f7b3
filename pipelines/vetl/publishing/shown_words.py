"""Find the words of the source that the published file shows: given ones, and those that many people share."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping

import phonenumbers

from vetl.core.published_file import COMMON_WORDS, DERIVED, FAKE_NUMBER, has_source_words
from vetl.endpoints import RECEIVED, REGISTRY
from vetl.publishing.marts import Columns, Masking, table_of
from vetl.store.connection import Connection, literal, quoted

_MOST_WORDS = 10_000
"""The most words of a column: a source that sends a new text with each row must not fill the memory."""

_PEOPLE = ("client_id", "phone_number", "contact_number", "client_phone")
"""Columns that identify the person of a row; a row without any of them counts as one person."""

_ADDRESS = r"[^\s@\x{ff20}][@\x{ff20}][^\s@\x{ff20}]"
"""A part of an e-mail address, as DuckDB searches for it."""

_NUMBER_LENGTHS = range(6, 14)
"""The digits of a telephone number without its country."""


Marts = Mapping[str, Columns]
"""The marts of the private file, which is the default database."""


def shown_words(connection: Connection, marts: Marts, masking: Masking) -> frozenset[str]:
    """Return the values that columns of words may show, in lower case.

    These are the words of the contract, of vetl and of `[privacy] words`, the practices' names, and values that
    the rows of enough people share, unless they hold an address or a person's number.
    """
    rule = masking.shared
    given = _given(connection, marts).union(word.lower() for word in rule.words)
    shared = {
        word
        for of in _columns_of_words(marts, masking)
        for word in _shared(connection, *of, given, rule.fewest_people)
    }
    return given | shared - _with_numbers_of_people(connection, shared)


def _given(connection: Connection, marts: Marts) -> frozenset[str]:
    listed = (
        value.lower()
        for endpoint in (*REGISTRY, *RECEIVED)
        for column in endpoint.columns()
        for value in column.values or ()
    )
    practices: list[tuple[str | None]] = []
    if "name" in marts.get("practices", {}):
        practices = connection.execute("select lower(name) from marts.practices").fetchall()
    return COMMON_WORDS.union(listed, (name for (name,) in practices if name))


def _columns_of_words(marts: Marts, masking: Masking) -> Iterator[tuple[str, str, str | None]]:
    """Yield the columns whose values are counted: the mart, the column, and SQL for the person of a row."""
    for mart, columns in marts.items():
        people = [quoted(name) for name in _PEOPLE if columns.get(name) == "VARCHAR"]
        person = f"coalesce({', '.join(people)})" if people else None
        # A mart without a person holds counts, or anonymous rows: those of online sessions have an id.
        if person is None and "session_id" not in columns:
            continue
        for name, kind in columns.items():
            is_counted = name not in DERIVED and name not in masking.columns[mart]
            if is_counted and kind == "VARCHAR" and has_source_words(mart, name):
                yield mart, name, person


def _shared(
    connection: Connection,
    mart: str,
    column: str,
    person: str | None,
    known: Collection[str],
    fewest: int,
) -> Iterator[str]:
    """Yield the values of a column, in lower case, that so many people share.

    Values are grouped before people are counted and texts are searched: most values of ten million rows are few.
    """
    table, word = table_of(mart), f"lower({quoted(column)})"
    candidates = connection.execute(
        f"select word from (select lower(word) as word, sum(times) as times from ("
        f"select {quoted(column)} as word, count(*) as times from {table} group by word) group by all)"
        " where times >= $fewest and not list_contains($known, word)"
        f" and not regexp_matches(word, {literal(_ADDRESS)})"
        f" order by times desc limit {_MOST_WORDS}",
        {"known": sorted(known), "fewest": fewest},
    ).fetchall()
    if candidates:
        people = f"count(distinct ({person})) + count(*) filter (({person}) is null)" if person else "count(*)"
        rows = connection.execute(
            f"select word from {table} inner join (select unnest($words) as word) on {word} = word"
            f" group by word having {people} >= $fewest",
            {"words": [one for (one,) in candidates], "fewest": fewest},
        ).fetchall()
        yield from (one for (one,) in rows)


def _with_numbers_of_people(connection: Connection, words: Collection[str]) -> set[str]:
    """Return the words whose digits hold a known person's telephone number, with or without its country.

    The marts of Spark come without the numbers: all words with so many digits then, as they may hold one.
    """
    parts: dict[str, set[str]] = {}
    for word in words:
        digits = re.sub(r"[^0-9]", "", unicodedata.normalize("NFKC", word))
        for length in _NUMBER_LENGTHS:
            for begin in range(len(digits) - length + 1):
                parts.setdefault(digits[begin : begin + length], set()).add(word)
    if not parts:
        return set()
    known = connection.execute(
        "select 1 from duckdb_tables() where schema_name = 'control' and table_name = 'phone_numbers'"
    ).fetchall()
    if not known:
        return set().union(*parts.values())
    ends = f"unnest(range({_NUMBER_LENGTHS.start}, {_NUMBER_LENGTHS.stop}))"
    rows = connection.execute(
        "select distinct e164 from (select e164, right(e164, length) as part"
        f" from control.phone_numbers, (select {ends} as length) where e164 is not null)"
        " semi join (select unnest($parts) as part) using (part)",
        {"parts": list(parts)},
    ).fetchall()
    numbers = (phonenumbers.parse(e164) for (e164,) in rows if not e164.startswith(FAKE_NUMBER))
    return set().union(*(parts.get(phonenumbers.national_significant_number(one), ()) for one in numbers))
