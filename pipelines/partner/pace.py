"""A ceiling of requests that all processes of an account keep together, on one machine or on several."""

import fcntl
import os
import struct
from pathlib import Path

from pipelines.partner.timing import Timing

_TURN = struct.Struct("<d")
SHARE = 0.95
"""Of the ceiling: what busy machines and networks deliver late comes on top of what is due in the same minute."""
_LATE_SECONDS = 0.1
"""Who is later than this takes another turn: after a busy second all who wait in a process would send at once."""
_LONGEST_SECONDS = 600.0
"""A turn further ahead than this was taken by a clock that was wrong."""


class SharedPace:
    """Gives each request a turn of its own, evenly, `SHARE * per_minute` of them a minute, whoever sends.

    The next turn stands in a file that all processes can lock: in one folder, or on a file system that several
    machines share, whose clocks must agree. A burst is never sent, not after a pause and not after a busy second.
    """

    def __init__(self, file: Path, per_minute: int, timing: Timing | None = None) -> None:
        self._file = file
        self._spacing = 60 / (SHARE * per_minute)
        self._timing = timing or Timing()

    async def turn(self) -> None:
        """Return when the next request may be sent.

        Raises:
            OSError: the file cannot be written.
        """
        late = max(_LATE_SECONDS, self._spacing)
        while (wait := self._taken()) > 0:
            turn = self._seconds() + wait
            await self._timing.sleep(wait)
            if self._seconds() - turn <= late:
                return

    def _seconds(self) -> float:
        return self._timing.now().timestamp()

    def _taken(self) -> float:
        """Seconds until a turn that nobody else has now."""
        handle = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)  # held for some microseconds
            now = self._seconds()
            held = os.pread(handle, _TURN.size, 0)
            free = _TURN.unpack(held)[0] if len(held) == _TURN.size else now
            turn = max(now, free) if free - now <= _LONGEST_SECONDS else now
            os.pwrite(handle, _TURN.pack(turn + self._spacing), 0)
        finally:
            os.close(handle)
        return turn - now
