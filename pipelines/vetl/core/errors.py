"""The errors that vetl raises, by the remedy.

VetlError
├── Permanent                the same call would fail the same way again
│   ├── ConfigurationError   a setting is missing, malformed or contradicts the source
│   │   └── SignInRefused    the platform does not accept the credentials
│   ├── WrongUse             a command cannot accept an argument: an unknown practice, broken SQL
│   ├── RequestRefused       the platform refuses a request with a 4xx status
│   │   ├── NotSent          ... or would refuse it, as it breaks the contract's limits: it was not sent
│   │   └── NotFound         ... because the resource does not exist (404, 410, 501)
│   ├── PracticeRefused      the credentials are not valid for this practice (401 after a fresh sign-in, 403)
│   ├── ContractBroken       an answer lacks a CSV column or an envelope that the contract promises
│   ├── NotStorable          the warehouse refuses a value of one list; other lists are stored
│   ├── WarehouseError       the file cannot be opened or written, or a newer vetl wrote it
│   │   ├── WarehouseBusy    another process has locked the file
│   │   └── PublicationHeld  the published file was rolled back, and the rollback is not released
│   ├── InboxError           the file of received webhooks cannot be opened, read or written
│   ├── LedgerError          the ledger of acts or of notices cannot be opened, read or written
│   └── BuildFailed          dbt could not build the marts; the published file stays as it was
├── Transient                the same call may work in a moment
│   ├── Unreachable          no connection, a time-out, a 5xx
│   ├── NotDelivered         a mail server or a webhook did not take a message
│   ├── RateLimited          429, possibly with the time to wait
│   ├── TokenRejected        401: sign in again, then repeat the request
│   └── TornAnswer           an answer that is not complete: cut off, HTML with a 200
│       ├── Withheld         ... or neither the answer nor an error: `success: false`, a redirect
│       └── WrongTotal       ... or whose rows are fewer or more than its own total says
└── BadRecord                one row that does not fit its model; the other rows are stored

A message is one line with the fault, its place and the remedy, without secrets and personal data.
"""

import errno
from traceback import FrameSummary, extract_tb


class VetlError(Exception):
    """Base of all errors that vetl raises. Notes that are added to an error become part of its line."""

    exit_code = 1

    def __str__(self) -> str:
        """Return the message and the notes that callers added."""
        return "".join((super().__str__(), *getattr(self, "__notes__", ())))


def unforeseen(error: Exception) -> str:
    """Return the type and the place of an unexpected error, without its message, which may quote a row."""
    frames = extract_tb(error.__traceback__)
    place = f" in {_file(frames[-1])}, line {frames[-1].lineno}" if frames else ""
    return f"internal error: {type(error).__name__}{place}"


def reason_of(error: Exception) -> str:
    """Return the message of an error of vetl, the file and the reason of one of the system, else `unforeseen`."""
    if isinstance(error, VetlError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'a file'}: {error.strerror}"
    return unforeseen(error)


def places_of(error: Exception) -> list[str]:
    """Return the traceback of an error, without values: file, line and function of each call."""
    return [f"{_file(frame)}:{frame.lineno} {frame.name}" for frame in extract_tb(error.__traceback__)]


def _file(frame: FrameSummary) -> str:
    return frame.filename.replace("\\", "/").rpartition("/")[2]


class Permanent(VetlError):
    """The same call would fail in the same way again."""


class ConfigurationError(Permanent):
    """A setting is missing, malformed or contradicts the source; the message names the key."""

    exit_code = 2


class SignInRefused(ConfigurationError):
    """The platform does not accept username, password and role."""


NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
MAKE_ROOM = "; make room and run it again"


def is_of_a_full_disk(message: str) -> bool:
    """Return whether a message names the remedy for a full disk."""
    return MAKE_ROOM.removeprefix("; ") in message


def cannot_write(place: object, error: OSError, failed: str = "cannot be written") -> str:
    """Return the line for a file that cannot be written; `failed` names the failure. A full disk has a remedy."""
    return f"{place}: {failed}: {error.strerror}{MAKE_ROOM if error.errno in NO_ROOM else ''}"


def cannot_listen(host: str, port: int, error: OSError) -> ConfigurationError:
    """Return the error for an address that a server cannot listen on."""
    if error.errno == errno.EADDRINUSE:
        return ConfigurationError(
            f"{host}:{port}: another program uses this port; end that program, or choose another port with --port"
        )
    why = str(error.strerror or error).partition(" (while attempting")[0]  # Python repeats the address there
    return ConfigurationError(f"{host}:{port}: cannot listen on this address: {why}")


class WrongUse(Permanent):
    """A command cannot accept an argument; the message names the arguments that it accepts."""

    exit_code = 2


class RequestRefused(Permanent):
    """The platform refuses a request with a 4xx status.

    `fields` are the wrong fields of a validation error with their messages (contract: Errors). The field `None` is
    the request itself.
    """

    def __init__(self, message: str, *, status: int, fields: tuple[tuple[str | None, str], ...] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.fields = fields


class NotSent(RequestRefused):
    """A request that breaks the contract's limits and was not sent; `fields` as in the platform's own answer."""

    def __init__(self, message: str, *, fields: tuple[tuple[str | None, str], ...]) -> None:
        super().__init__(message, status=400, fields=fields)


class NotFound(RequestRefused):
    """The resource or the endpoint does not exist (404, 410, 501)."""


class PracticeRefused(Permanent):
    """The credentials are valid, but not for this practice (401 after a fresh sign-in, 403).

    It is no `RequestRefused`, because code that probes a list catches that error as an answer about the list.
    """

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class ContractBroken(Permanent):
    """A complete answer lacks a part that the contract promises."""


class NotStorable(Permanent):
    """The warehouse refuses a value of one list; the other lists are stored."""


class WarehouseError(Permanent):
    """A file of the warehouse cannot be opened, read or written; the transaction was rolled back.

    Whatever opens the warehouse or the published file may raise it, so no docstring repeats it.
    """


class WarehouseBusy(WarehouseError):
    """Another process kept the warehouse locked for longer than `lock_wait_seconds`.

    `holder` describes that process, such as "another vetl (PID 12573)".
    """

    def __init__(self, message: str, *, holder: str = "another process") -> None:
        super().__init__(message)
        self.holder = holder


class PublicationHeld(WarehouseError):
    """The published file was rolled back and stays as it is until the rollback is released."""

    exit_code = 3


class InboxError(Permanent):
    """The receiver's inbox cannot be opened, read or written; no acknowledged delivery is lost."""


class LedgerError(Permanent):
    """The ledger of acts cannot be opened, read or written; no request leaves that it does not hold."""


class BackupError(Permanent):
    """A backup cannot be made, is not whole or was changed; what vetl keeps stays as it was."""


class BuildFailed(Permanent):
    """dbt could not build the marts."""


class Transient(VetlError):
    """The same call may work later; `retry_after` is the pause in seconds that the server demands, if any."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unreachable(Transient):
    """No connection, a time-out, or a 5xx status."""


class Failing(Unreachable):
    """A 5xx: the platform fails on this request. A request for fewer days may be answered."""


class TooSlow(Failing):
    """504 or a time-out: somebody gave up waiting for the platform. Fewer days may be answered in time."""


class Untrusted(Unreachable):
    """No authority of this machine vouches for the platform's certificate; an attempt soon after cannot help."""


class NotDelivered(Transient):
    """A mail server or a webhook did not take a message; the next run sends it."""


class RateLimited(Transient):
    """429: too many requests for this practice."""


class TokenRejected(Transient):
    """401: the token is missing, expired or revoked."""


class TornAnswer(Transient):
    """An answer that is incomplete or of the wrong kind, although its status is a success."""


class TooLarge(TornAnswer):
    """An answer with more bytes than vetl reads. It is not repeated; fewer days may have a smaller answer."""


class Withheld(TornAnswer):
    """Neither the answer nor an error: `success: false` in spite of the status, or a redirect.

    It may pass, or be the answer to an id that the platform does not have.
    """


class WrongTotal(TornAnswer):
    """A page with fewer or more rows than its own total says: the page is cut off, or the total is wrong."""


class BadRecord(VetlError):
    """One row that does not fit its model; it goes to quarantine, and the other rows are stored."""
