"""The active secrets: a changed file of settings holds from the next delivery on."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import structlog

from vetl.core.errors import ConfigurationError
from vetl.receiving.admission import Trust

_log = structlog.stdlib.get_logger("vetl.webhooks")
_LOOK_EVERY_SECONDS = 1.0


class Rotation:
    """The secrets now; if changed settings cannot be read or have no secret, a line is logged and they stay."""

    def __init__(
        self, read: Callable[[], Trust], files: Sequence[Path], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._read = read
        self._files = files
        self._now = now
        self._seen = self._stamps()
        self._looked = now()
        self._trust = read()

    def __call__(self) -> Trust:
        """Return the secrets as they were saved at most a second ago."""
        if self._now() - self._looked >= _LOOK_EVERY_SECONDS:
            self._looked = self._now()
            if (stamps := self._stamps()) != self._seen:
                self._seen = stamps
                self._read_again()
        return self._trust

    def _read_again(self) -> None:
        try:
            self._trust = self._read()
        except ConfigurationError as error:
            _log.error("secrets_not_read", cause=str(error))
        else:
            _log.info("secrets_read", active=len(self._trust.secrets))

    def _stamps(self) -> list[tuple[int, int, int] | None]:
        stamps: list[tuple[int, int, int] | None] = []
        for file in self._files:
            try:
                status = file.stat()
            except OSError:
                stamps.append(None)
            else:
                stamps.append((status.st_ino, status.st_size, status.st_mtime_ns))
        return stamps
