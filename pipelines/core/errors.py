"""Every error that vetl raises, by what may be done about it.

VetlError
├── Permanent                the same call would fail the same way again
│   ├── ConfigurationError   a setting is missing, malformed or contradicts the source
│   │   └── SignInRefused    the platform does not accept the credentials
│   ├── WrongUse             a command was given what it cannot take: an unknown practice, broken SQL
│   ├── RequestRefused       the platform answers 4xx: it will not do this
│   │   ├── NotSent          ... or would, so it was not asked: the contract's limits are not kept
│   │   └── NotFound         ... because there is no such thing (404, 410, 501)
│   ├── PracticeRefused      the credentials are not good for this practice (401 after a fresh sign-in, 403)
│   ├── ContractBroken       an answer lacks what the contract promises (a CSV column, an envelope)
│   ├── NotStorable          the warehouse refuses a value of one list; other lists are stored
│   ├── WarehouseError       the file cannot be opened, is newer than this vetl, or cannot be written
│   │   ├── WarehouseBusy    another process holds it
│   │   └── PublicationHeld  the published file was rolled back, and nobody has released it
│   ├── LakeError            the lake cannot be read or written
│   ├── InboxError           the file of received webhooks cannot be opened, read or written
│   ├── LedgerError          the ledger of acts cannot be opened, read or written
│   └── BuildFailed          dbt could not build the marts; what was published before stays
├── Transient                the same call may work in a moment
│   ├── Unreachable          no connection, a time-out, a 5xx
│   ├── RateLimited          429; may say how long to wait
│   ├── TokenRejected        401: sign in again, then replay
│   └── TornAnswer           an answer that is not whole: cut off, HTML with a 200
│       └── WrongTotal       ... or whose rows are not as many as its own total promises
└── BadRecord                one row that cannot be understood; the rest goes on

Messages are one line and say what, where and what to do. They never hold a secret or personal data.
"""

import errno
from collections.abc import Callable
from traceback import FrameSummary, extract_tb


class VetlError(Exception):
    """Anything that vetl raises on purpose. Notes that are added to it become part of its one line."""

    exit_code = 1

    def __str__(self) -> str:
        """Return the message, and what was added to it on the way up."""
        return "".join((super().__str__(), *getattr(self, "__notes__", ())))


def unforeseen(error: Exception) -> str:
    """Return the type and the place of an error that nobody foresaw.

    The message of such an error is left out, because it may quote a row.
    """
    frames = extract_tb(error.__traceback__)
    place = f" in {_file(frames[-1])}, line {frames[-1].lineno}" if frames else ""
    return f"internal error: {type(error).__name__}{place}"


def places_of(error: Exception) -> list[str]:
    """Return the traceback of an error, without values: file, line and function of each call."""
    return [f"{_file(frame)}:{frame.lineno} {frame.name}" for frame in extract_tb(error.__traceback__)]


def _file(frame: FrameSummary) -> str:
    return frame.filename.replace("\\", "/").rpartition("/")[2]


class Permanent(VetlError):
    """Trying again would fail in the same way."""


class ConfigurationError(Permanent):
    """A setting is missing, malformed or contradicts the source; the message names the key."""

    exit_code = 2


class SignInRefused(ConfigurationError):
    """The platform does not accept username, password and role."""


def cannot_listen(host: str, port: int, error: OSError) -> ConfigurationError:
    """Return the one line for an address that a server cannot listen on."""
    if error.errno == errno.EADDRINUSE:
        return ConfigurationError(
            f"{host}:{port}: another program uses this port; end that program, or choose another port with --port"
        )
    why = str(error.strerror or error).partition(" (while attempting")[0]  # Python repeats the address there
    return ConfigurationError(f"{host}:{port}: cannot listen on this address: {why}")


class WrongUse(Permanent):
    """A command was given something that it cannot take; the message names what it can."""

    exit_code = 2


class RequestRefused(Permanent):
    """The platform refuses a request with a 4xx status.

    `fields` are the offending fields of a validation error (contract: Errors), `None` for the request itself.
    """

    def __init__(self, message: str, *, status: int, fields: tuple[tuple[str | None, str], ...] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.fields = fields


class NotSent(RequestRefused):
    """A request that does not keep the contract's limits: it never left. `fields` are as the platform's own."""

    def __init__(self, message: str, *, fields: tuple[tuple[str | None, str], ...]) -> None:
        super().__init__(message, status=400, fields=fields)


class NotFound(RequestRefused):
    """There is no such resource, or the endpoint does not exist (404, 410, 501)."""


class PracticeRefused(Permanent):
    """The credentials are good, but not for this practice (401 after a fresh sign-in, 403).

    Not a `RequestRefused`: that error says something about one request, and code that tries requests catches it.
    This error says nothing about a list, so it must never count as an answer about one.
    """

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class ContractBroken(Permanent):
    """A whole answer lacks something that the contract promises."""


class NotStorable(Permanent):
    """The warehouse refuses a value of one list. Other lists are stored."""


class WarehouseError(Permanent):
    """The warehouse file cannot be opened, read or written; nothing half-written stays in it."""


class WarehouseBusy(WarehouseError):
    """Another process holds the warehouse, and went on holding it for `lock_wait_seconds`.

    `holder`: that process in words, such as "another vetl (PID 12573)".
    """

    def __init__(self, message: str, *, holder: str = "another process") -> None:
        super().__init__(message)
        self.holder = holder


class PublicationHeld(WarehouseError):
    """The published file was rolled back and stays as it is until the rollback is released."""

    exit_code = 3


class LakeError(Permanent):
    """The lake cannot be read or written; what its manifest lists stays."""


class InboxError(Permanent):
    """The receiver's inbox cannot be opened, read or written; nothing that was acknowledged is lost."""


class LedgerError(Permanent):
    """The ledger of acts cannot be opened, read or written; no request leaves that it does not hold."""


class BuildFailed(Permanent):
    """dbt could not build the marts."""


class Transient(VetlError):
    """Trying again may work. `retry_after`: the seconds that the server asks for, where it does."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unreachable(Transient):
    """No connection, a time-out, or a 5xx status."""


class RateLimited(Transient):
    """429: too many requests for this practice; `is_final`: the pause that it wants will not be made."""

    is_final: bool = False


class TokenRejected(Transient):
    """401: the token is missing, expired or revoked; `is_used_up` tells whether others have used it up."""

    is_used_up: Callable[[], bool] = bool
    """Set by whoever sent the request; `bool()` is false."""


class TornAnswer(Transient):
    """An answer that is not whole or not what was asked for, whatever its status says."""


class WrongTotal(TornAnswer):
    """A page whose rows are not as many as its own total promises: cut short, or a total that lies."""


class BadRecord(VetlError):
    """One row that does not fit its model; it goes to quarantine and the rest goes on."""
