"""The key of a phone call: given at first sight, from what never changes, and telling nobody the phone number."""

import hashlib

import polars as pl

ORDINAL = "_ordinal"
IDENTITY = ("called_at_local", "direction", "phone_number")
"""Calls of a practice that agree in these are told apart by their ordinal only."""


def practice_salt(salt: str, practice_id: str) -> str:
    """The secret that goes into the keys of one practice's calls."""
    return hashlib.sha256(f"{salt}/{practice_id}".encode()).hexdigest()[:20]


def ordinal(seen_before: pl.Expr | int = 0) -> pl.Expr:
    """Which of the calls of one identity a row is, in the frame's order, counted after those seen before."""
    return (pl.int_range(pl.len()).over(IDENTITY) + seen_before).alias(ORDINAL)


def call_key(source: str) -> str:
    """SQL for `call_key`, of the rows named `source`, with the practice's salt as parameter `$salt`.

    The salt keeps a published key from being traced back to a phone number by trying them all. With it the
    text fits one block of MD5, so that a key costs as little as it can.
    """
    minute = f"epoch_us({source}.called_at_local) // 60000000"
    parts = (minute, f"{source}.direction", f"{source}.phone_number", f"{source}.{ORDINAL}")
    text = ", '|', ".join(f"coalesce(cast({part} as varchar), '')" for part in parts)
    return f"left(md5(concat($salt, {text})), 20)"
