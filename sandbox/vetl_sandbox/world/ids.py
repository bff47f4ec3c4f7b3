"""Ids. Each has one number behind it; its text shows a partner neither time nor order."""

from typing import Final

MONTHS: Final = 1 << 12
ORDINALS: Final = 1 << 22
_NUMBERS: Final = MONTHS * MONTHS * ORDINALS
_MASK: Final = (1 << 64) - 1
_FACTOR: Final = 0x9E3779B97F4A7C15
_INVERSE: Final = pow(_FACTOR, -1, 1 << 64)


def first_number(practice: int, month: int) -> int:
    """Return the number of the first row that a practice's month creates."""
    return (practice * MONTHS + month) * ORDINALS


def opaque(prefix: str, number: int) -> str:
    """Return an id such as `call_9e3779b97f4a7c15`."""
    return f"{prefix}_{number * _FACTOR & _MASK:016x}"


def number_of(prefix: str, text: str) -> int | None:
    """Return the number behind an opaque id, or None if the id is not of this kind."""
    head, _, digits = text.rpartition("_")
    if head != prefix or len(digits) != 16 or set(digits) - set("0123456789abcdef"):  # noqa: PLR2004 - 64 bits
        return None
    number = int(digits, 16) * _INVERSE & _MASK
    return number if number < _NUMBERS else None
