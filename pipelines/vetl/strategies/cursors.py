"""The cursors that the strategies store in `control.cursors`."""

from datetime import date, datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer

from vetl.core.steps import MoveCursor

_Instant = Annotated[datetime, PlainSerializer(datetime.isoformat)]


class _Cursor(BaseModel):
    model_config = ConfigDict(frozen=True)

    def move(self) -> MoveCursor:
        """Return the step that stores this cursor."""
        return MoveCursor(self.model_dump(mode="json"))


class WindowsCursor(_Cursor):
    """The cursor of a list with a filter by `updated_at`: its certified spans of time."""

    covered: tuple[tuple[_Instant, _Instant], ...] = ()


class TopCursor(_Cursor):
    """The cursor of a list that is read from the top: every row from before `through` is stored."""

    through: _Instant | None = None


class WholeCursor(TopCursor):
    """The cursor of a list that is read whole once a day: `whole_on` is the practice-local day of the last one."""

    whole_on: date | None = None


class DaysCursor(_Cursor):
    """The cursor of the phone calls; `covered` are the closed days that were read whole.

    `recent_on` and `whole_on` are the days of the last daily and weekly re-read. `tried` counts by day the calls
    that the JSON list did not contain, so that the same day is not requested again today. `looked` is the time of
    the last read of each day that does not fit a page. `zone` is a time zone and the evidence against it, and
    `read_in` the time zone of the last sync.
    """

    covered: tuple[tuple[date, date], ...] = ()
    recent_on: date | None = None
    whole_on: date | None = None
    tried: dict[date, int] = {}
    looked: dict[date, _Instant] = {}
    zone: tuple[str, str] | None = None
    read_in: str | None = None
