"""Merge `_extra` of a call: the CSV and the JSON list each have undeclared fields of their own."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar

import polars as pl

from vetl.store.connection import literal
from vetl.store.frames import EXTRA
from vetl.store.records import canonical_json

S = TypeVar("S")


def grouped_by_new_fields(
    saves: Sequence[tuple[str, S]], fields_of: Callable[[S], Iterable[str]]
) -> list[tuple[frozenset[str], list[tuple[str, S]]]]:
    """Group saves by the undeclared fields of their practice; most practices have none and form one group."""
    fields: dict[str, frozenset[str]] = {}
    for practice_id, save in saves:
        fields[practice_id] = fields.get(practice_id, frozenset()).union(fields_of(save))
    groups: dict[frozenset[str], list[tuple[str, S]]] = {}
    for practice_id, save in saves:
        groups.setdefault(fields[practice_id], []).append((practice_id, save))
    return list(groups.items())


def merged_extra(stored: pl.Series, fresh: pl.Series, fields: Collection[str]) -> pl.Series:
    """Return `_extra` after a read: `fields` take the values of the read, all other fields stay as stored.

    Both series hold JSON objects as text, or null without undeclared fields.
    """
    if stored.null_count() == len(stored):
        return fresh
    texts = [_merged(before, after, fields) for before, after in zip(stored, fresh, strict=True)]
    return pl.Series(fresh.name, texts, dtype=pl.String)


def _merged(stored: str | None, fresh: str | None, fields: Collection[str]) -> str | None:
    if stored is None:
        return fresh
    remaining = {name: value for name, value in json.loads(stored).items() if name not in fields}
    whole = {**remaining, **(json.loads(fresh) if fresh else {})}
    return canonical_json(whole) if whole else None


def extra_digest(fields: Collection[str]) -> str:
    """Return SQL for a number that differs if `_extra` differs in one of these fields."""
    if not fields:
        return "0::hugeint"
    values = ", ".join(f"json_extract_string({EXTRA}, {literal(_path(name))})" for name in sorted(fields))
    return f"hash({values})::hugeint"


def _path(name: str) -> str:
    return '$."' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
