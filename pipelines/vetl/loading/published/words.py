"""Find the values that columns of words may show: those of the contract, and those that many people share."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations

import duckdb

from vetl.core.labels import (
    COMMON_WORDS,
    DERIVED,
    LONGEST_WORD,
    MOST_DIGITS,
    PUBLISHABLE,
    SENTENCE,
    has_source_words,
    tokens,
)
from vetl.core.privacy import Treatments
from vetl.endpoints import REGISTRY
from vetl.endpoints.received import RECEIVED
from vetl.loading.connection import literal, quoted
from vetl.loading.published.marts import Columns

FEWEST_PEOPLE = 5
"""The fewest people who share a value before it is a word; as many more for each person with that name."""

_MOST_WORDS = 10_000
"""The most learnt words: a source that sends a new text with each row must not fill the memory."""

_PEOPLE = ("client_id", "phone_number", "contact_number", "client_phone")
"""Columns that identify the person of a row; a row without any of them counts as one person."""

_SHORTEST_NAME = 2
"""The fewest letters of a part of a name that is searched for."""

_PAIR = 2
"""The parts of a name whose orders are searched for one by one; of more parts there are too many orders."""


@dataclass(frozen=True, slots=True)
class Marts:
    """The marts of the private file, which is the default database."""

    connection: duckdb.DuckDBPyConnection
    columns: Mapping[str, Columns]
    treatments: Treatments


def learnt_words(marts: Marts) -> frozenset[str]:
    """Return the words of the source that may be published, in lower case, from all rows of all marts."""
    shared = _shared(marts, _words_of_the_contract(marts))
    names = _names(marts, shared)
    return frozenset(word for word, people in shared.items() if _may_be_shown(word, people, names))


def publishable_words(marts: Marts, learnt: Collection[str]) -> frozenset[str]:
    """Return every value that columns of words may show: given words, the practices' names, and learnt words."""
    return _words_of_the_contract(marts).union(learnt)


def _words_of_the_contract(marts: Marts) -> frozenset[str]:
    listed = (
        value.lower()
        for endpoint in (*REGISTRY, *RECEIVED)
        for column in endpoint.columns()
        for value in column.values or ()
    )
    practices: list[tuple[str | None]] = []
    if "name" in marts.columns.get("practices", {}):
        practices = marts.connection.execute("select lower(name) from marts.practices").fetchall()
    return COMMON_WORDS.union(listed, (name for (name,) in practices if name))


def _columns_of_words(marts: Marts) -> Iterator[tuple[str, str, str | None]]:
    """Yield the columns whose values are learnt: the mart, the column, and SQL for the person of a row."""
    for mart, columns in marts.columns.items():
        people = [quoted(name) for name in _PEOPLE if columns.get(name) == "VARCHAR"]
        person = f"coalesce({', '.join(people)})" if people else None
        # A mart without a person holds counts, or anonymous rows: those of online sessions have an id.
        if person is None and "session_id" not in columns:
            continue
        for name, kind in columns.items():
            is_learnt = name not in DERIVED and name not in marts.treatments[mart]
            if is_learnt and kind == "VARCHAR" and has_source_words(mart, name):
                yield mart, name, person


def _fits(column: str) -> str:
    """Return SQL for whether a value of the column may be learnt at all."""
    digits = f"length(regexp_replace({column}, '\\P{{N}}', '', 'g'))"
    matches = f"regexp_full_match({column}, {literal(PUBLISHABLE)})"
    return f"length({column}) <= {LONGEST_WORD} and {matches} and {digits} <= {MOST_DIGITS}"


def _shared(marts: Marts, known: Collection[str]) -> dict[str, int]:
    """Return by how many people each unknown value is shared, if by enough, in the column with the most."""
    shared: dict[str, int] = {}
    for mart, column, person in _columns_of_words(marts):
        candidates = _candidates(marts, mart, column, known)
        if not candidates:
            continue
        people = f"count(distinct ({person})) + count(*) filter (({person}) is null)" if person else "count(*)"
        rows = marts.connection.execute(
            f"select word, {people} as people from marts.{quoted(mart)}"
            f" inner join (select unnest($words) as word) on lower({quoted(column)}) = word"
            f" group by word having people >= {FEWEST_PEOPLE}",
            {"words": candidates},
        ).fetchall()
        for word, count in rows:
            shared[word] = max(count, shared.get(word, 0))
    return shared


def _candidates(marts: Marts, mart: str, column: str, known: Collection[str]) -> list[str]:
    """Return the values of a column that may be learnt and are not known yet, in lower case.

    Values are grouped before they are matched to a pattern: ten million of them would take half a minute.
    """
    rows = marts.connection.execute(
        f"select word from (select lower({quoted(column)}) as word, count(*) as times"
        f" from marts.{quoted(mart)} group by word having times >= {FEWEST_PEOPLE})"
        f" where not list_contains($known, word) and {_fits('word')} order by times desc limit {_MOST_WORDS}",
        {"known": sorted(known)},
    ).fetchall()
    return [word for (word,) in rows]


Name = tuple[str, ...]
"""The parts of a person's name, in one spelling."""

_SPLIT = r"string_split_regex(lower(strip_accents(name)), '[^\p{L}\p{N}]+')"
_PAIRS = "flatten(list_transform(parts, lambda one: list_transform(parts, lambda other: one || other)))"
_LETTERS = (
    "case when len(parts) > 2 then"
    " ' ' || array_to_string(list_sort(string_split(array_to_string(parts, ''), '')), '') end"
)
"""SQL for the parts of a name, for each two of them written as one, and for the letters of three parts or more."""


def _names(marts: Marts, words: Collection[str]) -> dict[str, set[Name]]:
    """Return the names of people and animals that share a form with a word, by that form."""
    wanted = sorted({form for word in words for form in _forms_of_word(word)})
    names: dict[str, set[Name]] = defaultdict(set)
    for mart, column in _columns_of_names(marts) if wanted else ():
        rows = marts.connection.execute(
            f"with names as (select distinct {column} as name from marts.{quoted(mart)})"
            f" select name from (select name, {_SPLIT} as parts from names where name is not null)"
            f" where list_has_any(parts || {_PAIRS} || [{_LETTERS}], $wanted)",
            {"wanted": wanted},
        ).fetchall()
        for (text,) in rows:
            name = tuple(tokens(text))
            for form in _forms_of_name(name):
                names[form].add(name)
    return names


def _columns_of_names(marts: Marts) -> Iterator[tuple[str, str]]:
    """Yield SQL for the masked names in each mart. Names that are published in clear are not searched for."""
    for mart, columns in marts.columns.items():
        treatment = marts.treatments[mart]
        masked = [name for name in columns if treatment.get(name, "clear") != "clear" and name.endswith("name")]
        for name in masked:
            if columns[name] == "VARCHAR":
                yield mart, quoted(name)
        if {"client_first_name", "client_last_name"} <= set(masked):
            yield mart, "client_first_name || ' ' || client_last_name"


def _forms_of_name(name: Name) -> set[str]:
    """Return the parts of a name, each two of them written as one, and the letters of three parts or more."""
    forms = {*name, *(first + second for first, second in permutations(name, 2))}
    letters = {_letters("".join(name))} if len(name) > _PAIR else set[str]()
    return {form for form in forms | letters if len(form) >= _SHORTEST_NAME}


def _forms_of_word(word: str) -> set[str]:
    """Return the words in a text, all of them written as one, and the letters of each."""
    parts = tokens(word)
    forms = {*parts, "".join(parts)}
    return {form for form in (*forms, *map(_letters, forms)) if len(form) >= _SHORTEST_NAME}


def _letters(text: str) -> str:
    """Return the letters in order, which are the same for all parts of a name written as one, in any order."""
    return f" {''.join(sorted(text))}"


def _of(word: str, names: Mapping[str, set[Name]]) -> set[Name]:
    """Return the names that share a form with the word."""
    return set().union(*(names.get(form, ()) for form in _forms_of_word(word)))


def _names_somebody(word: str, name: Name) -> bool:
    """Return whether the word holds two parts of the name, one and an initial, or several written as one."""
    parts = set(tokens(word))
    common = {part for part in name if part in parts and len(part) >= _SHORTEST_NAME}
    if not _forms_of_word(word).isdisjoint(_forms_of_name(name).difference(name)):
        return True
    initials = {part[0] for part in name if part not in common}
    return len(common) > 1 or bool(common and parts & initials)


def _may_be_shown(word: str, people: int, names: Mapping[str, set[Name]]) -> bool:
    """Return whether the word names nobody, and many more people share it than bear it as a name."""
    bearers = _of(word, names)
    if any(_names_somebody(word, name) for name in bearers):
        return False
    if bearers and len(tokens(word)) >= SENTENCE:
        return False
    return people >= FEWEST_PEOPLE * (len(bearers) + 1)
