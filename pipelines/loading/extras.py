"""What `_extra` of a call holds: the CSV and the JSON list each tell fields of their own that nobody declared."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar

import polars as pl

from pipelines.loading.connection import literal
from pipelines.loading.frames import EXTRA
from pipelines.loading.records import canonical_json

S = TypeVar("S")


def told_alike(
    saves: Sequence[tuple[str, S]], fields_of: Callable[[S], Iterable[str]]
) -> list[tuple[frozenset[str], list[tuple[str, S]]]]:
    """Saves of practices whose reads tell the same unknown fields, mostly none: these are compared together."""
    fields: dict[str, frozenset[str]] = {}
    for practice_id, save in saves:
        fields[practice_id] = fields.get(practice_id, frozenset()).union(fields_of(save))
    groups: dict[frozenset[str], list[tuple[str, S]]] = {}
    for practice_id, save in saves:
        groups.setdefault(fields[practice_id], []).append((practice_id, save))
    return list(groups.items())


def together(stored: pl.Series, fresh: pl.Series, fields: Collection[str]) -> pl.Series:
    """`_extra` after a read that tells these fields: they are as they were told, all others stay as they are.

    Both series are JSON objects as text, or null where there is no such field.
    """
    if stored.null_count() == len(stored):
        return fresh
    texts = [_together(before, after, fields) for before, after in zip(stored, fresh, strict=True)]
    return pl.Series(fresh.name, texts, dtype=pl.String)


def _together(stored: str | None, fresh: str | None, fields: Collection[str]) -> str | None:
    if stored is None:
        return fresh
    kept = {name: value for name, value in json.loads(stored).items() if name not in fields}
    whole = {**kept, **(json.loads(fresh) if fresh else {})}
    return canonical_json(whole) if whole else None


def told_by(fields: Collection[str]) -> str:
    """SQL for a number that differs where `_extra` differs in one of these fields."""
    if not fields:
        return "0::hugeint"
    values = ", ".join(f"json_extract_string({EXTRA}, {literal(_path(name))})" for name in sorted(fields))
    return f"hash({values})::hugeint"


def _path(name: str) -> str:
    return '$."' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
