"""Where each kind of list is read on from: what its strategy keeps in `control.cursors`."""

from datetime import date, datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer

from pipelines.core.steps import MoveCursor

_Instant = Annotated[datetime, PlainSerializer(datetime.isoformat)]


class _Cursor(BaseModel):
    model_config = ConfigDict(frozen=True)

    def move(self) -> MoveCursor:
        """The step that keeps it."""
        return MoveCursor(self.model_dump(mode="json"))


class WindowsCursor(_Cursor):
    """A list with a filter by `updated_at`. `covered`: the certified spans of time."""

    covered: tuple[tuple[_Instant, _Instant], ...] = ()


class TopCursor(_Cursor):
    """A list that is read from the top. `through`: every row of before this is known here."""

    through: _Instant | None = None


class WholeCursor(TopCursor):
    """A list that is read whole once a day. `whole_on`: the practice-local day of the last time."""

    whole_on: date | None = None


class DaysCursor(_Cursor):
    """Phone calls. `covered`: closed days read whole.

    `recent_on`, `whole_on`: when the daily and the weekly re-read were last done. `tried`: calls of a day that
    the JSON list did not explain, not to be asked for again the same day. `looked`: when a day that does not fit
    a page was last read. `zone`: a time zone, and what contradicts it. `read_in`: the time zone of the last sync.
    """

    covered: tuple[tuple[date, date], ...] = ()
    recent_on: date | None = None
    whole_on: date | None = None
    tried: dict[date, int] = {}
    looked: dict[date, _Instant] = {}
    zone: tuple[str, str] | None = None
    read_in: str | None = None
