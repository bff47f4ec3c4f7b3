"""The key of a phone call: given at first sight, from what never changes, and telling nobody the phone number."""

import hashlib

import polars as pl

ORDINAL = "_ordinal"
IDENTITY = ("practice_id", "called_at_local", "direction", "phone_number")
"""Calls that agree in these are told apart by their ordinal only."""
SALT = "_salt"


def practice_salt(salt: str, practice_id: str) -> str:
    """The secret that goes into the keys of one practice's calls."""
    return hashlib.sha256(f"{salt}/{practice_id}".encode()).hexdigest()[:20]


def with_ordinals(calls: pl.DataFrame) -> pl.DataFrame:
    """Number the calls of one identity, in the frame's order, from 0."""
    # Few calls share an identity, and one number tells which may: only those are worth grouping by four columns.
    marks = calls.select(pl.struct(IDENTITY).hash()).to_series()
    crowded = calls.select(IDENTITY).with_row_index("_row").filter(marks.is_duplicated())
    nth = crowded.select("_row", pl.int_range(pl.len()).over(IDENTITY).alias(ORDINAL))
    ordinals = pl.zeros(calls.height, dtype=pl.Int64, eager=True).scatter(nth["_row"], nth[ORDINAL])
    return calls.with_columns(ordinals.alias(ORDINAL))


def call_key(source: str) -> str:
    """SQL for `call_key`, of the rows named `source`, with the practice's salt as column `_salt`.

    The salt keeps a published key from being traced back to a phone number by trying them all. With it the
    text fits one block of MD5, so that a key costs as little as it can.
    """
    minute = f"epoch_us({source}.called_at_local) // 60000000"
    parts = (minute, f"{source}.direction", f"{source}.phone_number", f"{source}.{ORDINAL}")
    text = ", '|', ".join(f"coalesce(cast({part} as varchar), '')" for part in parts)
    return f"left(md5(concat({source}.{SALT}, {text})), 16)"
