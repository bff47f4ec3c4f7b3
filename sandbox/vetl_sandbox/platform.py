"""The platform without its HTTP server: world, clock, switches, faults, tokens and tables in one place."""

from collections import Counter, OrderedDict
from collections.abc import Hashable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from random import Random
from secrets import compare_digest, token_urlsafe
from threading import RLock
from typing import Any, Final

from vetl_sandbox.agenda import Agenda
from vetl_sandbox.clock import VirtualClock
from vetl_sandbox.desk import Desk
from vetl_sandbox.directory import Directory
from vetl_sandbox.events import Events
from vetl_sandbox.faults import Faults
from vetl_sandbox.resources.registry import RESOURCES
from vetl_sandbox.resources.resource import Record
from vetl_sandbox.switches import Switches, patched
from vetl_sandbox.table import Table
from vetl_sandbox.world import World
from vetl_sandbox.world.practices import Practice

_CACHED_BYTES: Final = 64 * 2**20
_ROWS_AT_HAND: Final = 3_000_000
"""The most rows of all lists together that are kept as they are now; the lists of one practice may have more."""


@dataclass(frozen=True)
class Credentials:
    """The partner's sign-in, and the secret that signs its webhooks."""

    username: str = "partner@example.com"
    password: str = "sandbox-password"  # noqa: S105 - of a made-up platform
    role: str = "PARTNER"
    webhook_secret: str = "whsec_sandbox"  # noqa: S105 - of a made-up platform

    def match(self, username: str, password: str, role: str) -> bool:
        """Return whether these are the partner's."""
        return (
            compare_digest(username.encode(), self.username.encode())
            and compare_digest(password.encode(), self.password.encode())
            and role == self.role
        )


@dataclass(frozen=True)
class Seen:
    """One request as it came in, and its answer."""

    method: str
    path: str
    query: str
    practice_id: str | None
    status: int
    arrived: float
    """Seconds by `time.monotonic`."""


@dataclass
class Requests:
    """The requests so far, without those to the control interface."""

    log: list[Seen] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.log)

    def by_path(self) -> Counter[str]:
        """Return how many requests went to each path."""
        return Counter(seen.path for seen in self.log)

    def count(self, path: str) -> int:
        """Return how many requests went to paths with this end, such as `phone_calls`."""
        return sum(seen.path.endswith(path) for seen in self.log)

    def clear(self) -> None:
        """Forget all requests."""
        self.log.clear()


@dataclass
class _Token:
    expires: datetime
    uses: int = 0


class Platform:
    """Everything that the server shows, and that tests may change."""

    def __init__(
        self,
        world: World,
        clock: VirtualClock | None = None,
        *,
        switches: Switches | None = None,
        credentials: Credentials | None = None,
    ) -> None:
        self.world = world
        self.clock = clock or VirtualClock(world.start)
        self.switches = switches or Switches()
        self.credentials = credentials or Credentials()
        self.faults = Faults(seed=world.seed)
        self.requests = Requests()
        self.lock = RLock()
        self._tokens: dict[str, _Token] = {}
        self._sign_ins = Random(world.seed)
        self._has_signed_in = False
        self._tables: OrderedDict[tuple[str, str], Table] = OrderedDict()
        self._pages: OrderedDict[Hashable, tuple[bytes, Any]] = OrderedDict()
        self._page_bytes = 0
        self.agenda = Agenda(self.clock)
        self.events = Events(self, self.credentials.webhook_secret)
        self.desk = Desk(self, self.events)
        self.events.watch()

    def now(self) -> datetime:
        """Return the platform's time."""
        return self.clock.now()

    def advance(self, by: timedelta) -> datetime:
        """Move the clock forward, do the work that comes due, and return the new time."""
        return self.agenda.advance(by)

    def set(self, **changes: Any) -> Switches:  # noqa: ANN401 - checked by the switches themselves
        """Change switches by name; see `switches.patched`."""
        self.switches = patched(self.switches, changes)
        self.events.watch()
        return self.switches

    def issue_token(self) -> str:
        """Return a new token, good for the switched lifetime."""
        token = token_urlsafe(32)
        self._tokens[token] = _Token(self.now() + timedelta(seconds=self.switches.token_lifetime_seconds))
        return token

    def refuses_sign_in(self) -> bool:
        """Return whether a sign-in with the right credentials is refused; the first is never refused."""
        refused = self._has_signed_in and self._sign_ins.random() < self.switches.sign_in_refusals
        self._has_signed_in = True
        return refused

    def takes_token(self, token: str) -> bool:
        """Count one use of a token and return whether it was still good."""
        issued, most = self._tokens.get(token), self.switches.token_uses
        if issued is None or self.now() >= issued.expires or (most is not None and issued.uses >= most):
            return False
        issued.uses += 1
        return True

    def told_zone(self, practice: Practice) -> str:
        """Return the time zone that the platform shows for a practice, true or not."""
        return self.switches.told_time_zones.get(practice.id, practice.time_zone)

    def describe(self, base_url: str) -> dict[str, Any]:
        """Return the sign-in that a client needs, and the practices."""
        return {
            "base_url": base_url,
            **asdict(self.credentials),
            "practices": [
                {"id": practice.id, "name": practice.name, "time_zone": self.told_zone(practice)}
                for practice in self.world.practices.values()
            ],
        }

    def revoke_tokens(self) -> None:
        """Make every token invalid."""
        self._tokens.clear()

    def table(self, practice_id: str, name: str) -> Table:
        """Return one list of one practice.

        Raises:
            KeyError: There is no such practice or list.
        """
        key = practice_id, name
        if key not in self._tables:
            _ = self.world.practices[practice_id]
            self._tables[key] = Table(self.world, practice_id, RESOURCES[name])
        self._tables.move_to_end(key)
        table = self._tables[key]
        if not table.rows_at_hand:
            self._make_room()
        return table

    def _make_room(self) -> None:
        """Drop the lists that were asked for least recently; they are drawn again on demand."""
        rows = sum(table.rows_at_hand for table in self._tables.values())
        for table in self._tables.values():
            if rows <= _ROWS_AT_HAND:
                break
            rows -= table.rows_at_hand
            table.put_away()

    def directory(self, practice_id: str) -> Directory:
        """Return the people of a practice as they are now."""
        clients, patients = (self.table(practice_id, name) for name in ("clients", "patients"))
        return Directory(clients, patients, self.now(), self.switches)

    def truth(self, practice_id: str, name: str) -> Iterator[Record]:
        """Return a whole list as it is now, oldest first."""
        with self.lock:
            table = self.table(practice_id, name)
            snapshot = table.snapshot(self.now(), self.switches)
        return table.every_record(snapshot)

    def cached(self, key: Hashable) -> tuple[bytes, Any] | None:
        """Return a page that was rendered before, if it is still kept."""
        page = self._pages.get(key)
        if page is not None:
            self._pages.move_to_end(key)
        return page

    def keep(self, key: Hashable, body: bytes, headers: Any) -> None:  # noqa: ANN401 - what the caller wants back
        """Keep a rendered page; drop the least used pages if there are too many."""
        self._pages[key] = body, headers
        self._page_bytes += len(body)
        while self._page_bytes > _CACHED_BYTES:
            _, (old, _) = self._pages.popitem(last=False)
            self._page_bytes -= len(old)
