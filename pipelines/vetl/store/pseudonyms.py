"""Replace forgotten people by their pseudonyms in rows that the platform sends again.

Each new row is changed before the merge in the same way as stored rows were when the person was forgotten, so that
a row that the platform sends again equals the stored row.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import polars as pl

from vetl.core.endpoint import Kind
from vetl.store.connection import Connection
from vetl.store.mentions import Known, Mentions
from vetl.store.tables import RawTable, canonical_json

IDS = ("client_id", "remote_client_id")
PHONES = ("phone", "phone_number", "client_phone", "contact_number")
EMAILS = ("email", "client_email")
NAMES = ("name", "client_name", "client_first_name", "client_last_name", "patient_name")
WORDS = (
    "summary",
    "title",
    "description",
    "override_completion_action_text",
    "context",
    "error_message",
    "outcome_detail",
    "custom_fields",
    "body",
    "_extra",
)
LISTS = ("patients", "reminders")
"""Columns whose lists keep their length, because marts count their entries."""

GONE = '{"forgotten": true}'
"""The replacement of a quarantined payload that mentions a person: its shape is unknown, so it is emptied."""

CALLS = "phone_calls"
_OWN_KEYS = ("practice", "practice_name", "call_key", "content_hash")
"""Columns that name the practice, or that vetl computes."""


@dataclass(frozen=True, slots=True)
class Pseudonyms:
    """The mentions of forgotten people by practice; a practice without any is not in it."""

    by_practice: Mapping[str, Mentions] = field(default_factory=dict[str, Mentions])

    @classmethod
    def load(cls, connection: Connection) -> "Pseudonyms":
        """Read the digests and pseudonyms that the file stores."""
        keys = dict(connection.execute("select practice_id, key from control.forgotten_keys").fetchall())
        by_practice: dict[str, list[Known]] = {}
        for practice_id, *rest in connection.execute(
            "select practice_id, kind, span, digest, pseudonym from control.forgotten_values"
        ).fetchall():
            by_practice.setdefault(practice_id, []).append(Known(*rest))
        return cls({of: Mentions(bytes.fromhex(keys[of]), its) for of, its in by_practice.items()})

    def mentions_in(self, practice_id: str, text: str) -> bool:
        """Return whether a text mentions a forgotten person of the practice, or of any if it is unknown."""
        own = [self.by_practice[practice_id]] if practice_id in self.by_practice else []
        among = own if practice_id else self.by_practice.values()
        return any(is_about(mentions, text) for mentions in among)

    def in_rows(self, table: RawTable, frame: pl.DataFrame) -> pl.DataFrame:
        """Return new or stored rows with pseudonyms instead of forgotten people.

        `frame` has a `practice_id` and any of the table's columns.
        """
        among = [of for of in self.by_practice if (frame["practice_id"] == of).any()] if self.by_practice else []
        if not among:
            return frame
        places = frame.with_row_index("_place")
        parts = [places.filter(~pl.col("practice_id").is_in(among))]
        parts += [_Rows(self.by_practice[of], table, places.filter(practice_id=of)).hidden() for of in among]
        return pl.concat([part.select(places.columns) for part in parts]).sort("_place").drop("_place")

    def of_practices(self, practices: Iterable[str]) -> list[str]:
        """Return the pseudonyms of all ids of clients of these practices."""
        return sorted(
            {name for of in practices if of in self.by_practice for name in self.by_practice[of].pseudonyms}
        )


@dataclass(frozen=True)
class _Rows:
    mentions: Mentions
    table: RawTable
    frame: pl.DataFrame

    def hidden(self) -> pl.DataFrame:
        """Return the rows with pseudonyms; the person's own rows also lose their names and words."""
        frame = without_words(self.table, self.frame, self.own)
        replaced = [
            _mapped(frame[name], self._replacement(name))
            for name, kind in zip(frame.columns, frame.dtypes, strict=True)
            if kind == pl.String and self._shows(name)
        ]
        return frame.with_columns(replaced)

    @cached_property
    def own(self) -> pl.Series:
        """Mark the person's rows: by id, or by number or address if they name no other client.

        A call with the person's number is theirs whomever it names, because its row in the CSV names nobody.
        """
        by_id = self._any(self._id_columns, self.mentions.identity)
        by_contact = self._any(PHONES, self.mentions.number) | self._any(EMAILS, self.mentions.address)
        if self.table.endpoint.table != CALLS:
            by_contact &= ~self._any(self._id_columns, str)  # these name another client
        return by_id | by_contact

    @property
    def _id_columns(self) -> tuple[str, ...]:
        return ("id", "remote_id", *IDS) if self.table.endpoint.table == "clients" else IDS

    def _any(self, columns: Iterable[str], recognised: Callable[[str], str | None]) -> pl.Series:
        marked = pl.repeat(value=False, n=self.frame.height, eager=True, dtype=pl.Boolean)
        for name in columns:
            if name in self.frame.columns:
                values = [value for value in self.frame[name].unique() if value and recognised(value)]
                marked |= self.frame[name].is_in(values).fill_null(value=False)
        return marked

    def _shows(self, name: str) -> bool:
        """Return whether a column may name a person: neither ids of other things nor vetl's own columns do."""
        if name in self._id_columns:
            return True
        is_ours = name in _OWN_KEYS or (name.startswith("_") and name != "_extra")
        return not is_ours and name != "id" and not name.endswith("_id")

    def _replacement(self, name: str) -> Callable[[str], str]:
        if name in self._id_columns:
            return lambda value: self.mentions.identity(value) or value
        if name in PHONES:
            return lambda value: self.mentions.number(value) or self.mentions.replaced(value)
        if name == "_extra" or any(item.name == name and item.kind is Kind.JSON for item in self.table.columns):
            return lambda value: in_json(self.mentions, value)
        return self.mentions.replaced


def in_json(mentions: Mentions, text: str) -> str:
    """Return a JSON text with pseudonyms; text that is not JSON is treated as plain text."""
    try:
        document = json.loads(text)
    except ValueError:
        return mentions.replaced(text)
    replaced = mentions.replaced_json(document)
    return text if replaced == document else canonical_json(replaced)


def is_about(mentions: Mentions, text: str) -> bool:
    """Return whether a text mentions a person, or is JSON that does."""
    if mentions.replaced(text) != text:
        return True
    try:
        document = json.loads(text) if text[:1] in "{[" else None
    except (ValueError, RecursionError):
        return False
    return document is not None and _json_is_about(mentions, document)


def _json_is_about(mentions: Mentions, document: object) -> bool:
    """Return whether JSON mentions a person: in a field for ids, at any length, or in a text."""
    match document:
        case str():
            return mentions.replaced(document) != document
        case dict():
            fields = cast("dict[str, object]", document)
            named = [str(fields[name]) for name in IDS if name in fields]
            return any(map(mentions.identity, named)) or any(
                _json_is_about(mentions, item) for item in fields.values()
            )
        case list():
            return any(_json_is_about(mentions, item) for item in cast("list[object]", document))
        case _:
            return False


def without_words(table: RawTable, frame: pl.DataFrame, own: pl.Series) -> pl.DataFrame:
    """Return the rows; remove names and words from those that are `own`."""
    if not own.any():
        return frame
    emptied = [
        pl.when(own).then(None).otherwise(frame[name]).alias(name) for name in (*NAMES, *WORDS) if name in frame
    ]
    blanked = [
        pl.when(own).then(_mapped(frame[name], _blanked)).otherwise(frame[name]).alias(name)
        for name in LISTS
        if name in frame and table.has(name)
    ]
    return frame.with_columns(*emptied, *blanked)


def _blanked(text: str) -> str:
    things = json.loads(text)
    return canonical_json([{} for _ in things]) if isinstance(things, list) else "[]"


def _mapped(series: pl.Series, replace: Callable[[str], str]) -> pl.Series:
    """Replace the values of a column; each distinct text is processed once."""
    changed = {text: new for text in series.unique() if text is not None and (new := replace(text)) != text}
    return series.replace(changed) if changed else series
