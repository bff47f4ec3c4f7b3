"""The configured facts about a practice, which the interface does not provide."""

import unicodedata
from dataclasses import dataclass
from datetime import date
from typing import Annotated, ClassVar

from pydantic import AfterValidator, ConfigDict, Field

from vetl.core.text import printable
from vetl.core.zones import known_zone

ID_LENGTH = 80
"""Most characters of a practice's id. The id names a folder of the lake: a character may take 3 of 255 bytes."""


def problem_of_id(text: str) -> str | None:
    """Return the reason why no practice can have this id, which is sent in `X-Client-Id` and names a folder."""
    if not text.isascii() or not text.isprintable() or text != text.strip() or not text:
        return "must be visible ASCII characters, as they go into X-Client-Id"
    return f"must have at most {ID_LENGTH} characters" if len(text) > ID_LENGTH else None


def _possible_id(text: str) -> str:
    if problem := problem_of_id(text):
        raise ValueError(problem)
    return text


def _one_line(text: str) -> str:
    """Return the text if it is one line in one direction, as heads of mails and tables need it."""
    if any(unicodedata.category(one) in {"Cc", "Zl", "Zp"} for one in text) or printable(text) != text:
        msg = "must be one line without control characters"
        raise ValueError(msg)
    return text


@dataclass(frozen=True, slots=True)
class Practice:
    """One location; `id` is sent in `X-Client-Id`, and `history_start` is the first day that is read.

    `settings` checks the annotations when it reads a practice from a file; a plain call does not check them.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    id: Annotated[str, AfterValidator(_possible_id)]
    name: Annotated[str, Field(min_length=1), AfterValidator(_one_line)]
    time_zone: Annotated[str, AfterValidator(known_zone)]
    history_start: date
    group: Annotated[str, AfterValidator(_one_line)] | None = None
