"""What vetl is told about a practice, because the interface does not tell it."""

from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from typing import Annotated, ClassVar
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, ConfigDict, Field


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        nearest = get_close_matches(name, available_timezones(), n=1)
        hint = f"; did you mean {nearest[0]}?" if nearest else ""
        msg = f"must be an IANA time zone such as America/New_York{hint}"
        raise ValueError(msg) from None
    return name


LONGEST_ID = 80
"""Characters of a practice's id. In the lake it names a folder: a character may take 3 of 255 bytes."""


def problem_of_id(text: str) -> str | None:
    """Return why no practice can have this id, which has to pass in `X-Client-Id` and name a folder."""
    if not text.isascii() or not text.isprintable() or text != text.strip() or not text:
        return "must be visible ASCII characters, as they go into X-Client-Id"
    return f"must have at most {LONGEST_ID} characters" if len(text) > LONGEST_ID else None


def _possible_id(text: str) -> str:
    if problem := problem_of_id(text):
        raise ValueError(problem)
    return text


@dataclass(frozen=True, slots=True)
class Practice:
    """One location. `id` goes into `X-Client-Id`; `history_start` is the first day that is read.

    The annotations are rules for who reads it from a file (`settings`); a plain call does not check them.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    id: Annotated[str, AfterValidator(_possible_id)]
    name: Annotated[str, Field(min_length=1)]
    time_zone: Annotated[str, AfterValidator(_known_zone)]
    history_start: date
    group: str | None = None
