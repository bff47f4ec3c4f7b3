"""A running platform, for tests and the demo."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from starlette.applications import Starlette

from vetl_sandbox.faults import Faults
from vetl_sandbox.platform import Platform, Requests
from vetl_sandbox.resources.resource import Record
from vetl_sandbox.switches import Switches
from vetl_sandbox.table import Table
from vetl_sandbox.webhooks.deliveries import Attempt
from vetl_sandbox.webhooks.faults import WebhookFaults
from vetl_sandbox.world.practices import Practice


@dataclass(frozen=True)
class Handle:
    """The sign-in that a client needs, and the changes that a test may make behind a client's back."""

    base_url: str
    app: Starlette
    _fresh: Callable[[], Platform]

    @property
    def platform(self) -> Platform:
        """The platform that the address serves now."""
        return self.app.state.platform

    def reset(self) -> None:
        """Put a fresh platform over the same world behind the same address, with everything as at the start."""
        self.app.state.platform = self._fresh()

    @property
    def username(self) -> str:
        """The name to sign in with."""
        return self.platform.credentials.username

    @property
    def password(self) -> str:
        """The password to sign in with."""
        return self.platform.credentials.password

    @property
    def role(self) -> str:
        """The role to sign in with."""
        return self.platform.credentials.role

    @property
    def webhook_secret(self) -> str:
        """The secret that signs webhooks."""
        return self.platform.credentials.webhook_secret

    @property
    def practices(self) -> tuple[Practice, ...]:
        """All practices, each with `id`, `name` and `time_zone`."""
        return tuple(self.platform.world.practices.values())

    @property
    def requests(self) -> Requests:
        """The requests so far."""
        return self.platform.requests

    @property
    def faults(self) -> Faults:
        """The faults in force; `faults.set([Fault(...)])` changes them."""
        return self.platform.faults

    @property
    def webhook_faults(self) -> WebhookFaults:
        """The faults of the sender of webhooks; `webhook_faults.set([WebhookFault(...)])` changes them."""
        return self.platform.events.deliveries.faults

    @property
    def switches(self) -> Switches:
        """The switches in force; `set` changes them."""
        return self.platform.switches

    def set(self, **changes: Any) -> Switches:  # noqa: ANN401 - checked by the switches themselves
        """Change switches: `set(token_lifetime_seconds=5, staff_tasks={"page_base": 1})`.

        Raises:
            UnknownSwitchError: There is no such switch or value.
        """
        return self.platform.set(**changes)

    def now(self) -> datetime:
        """Return the platform's time, in UTC."""
        return self.platform.now()

    def advance(self, by: timedelta) -> datetime:
        """Move the platform's clock forward."""
        return self.platform.advance(by)

    @property
    def webhooks(self) -> list[Attempt]:
        """Return every attempt to deliver a webhook, oldest first."""
        return self.platform.events.deliveries.log

    def settle(self) -> None:
        """Wait until the work that is due now has been done, webhooks included."""
        self.platform.agenda.run_due()

    def truth(self, practice_id: str, list_name: str) -> list[Record]:
        """Return a whole list as it is now, oldest first.

        Raises:
            KeyError: No such practice or list.
        """
        return list(self.platform.truth(practice_id, list_name))

    def insert(self, practice_id: str, list_name: str, record: Mapping[str, Any]) -> str:
        """Add a row and return its id; fields that are not given are null, or the present time."""
        with self.platform.lock:
            return self._table(practice_id, list_name).insert(record, self.now())

    def update(self, practice_id: str, list_name: str, row_id: str, changes: Mapping[str, Any]) -> Record:
        """Change fields of a row and nothing else: `updated_at` moves only if it is among them.

        Raises:
            NoSuchRowError: There is no such row.
        """
        with self.platform.lock:
            return self._table(practice_id, list_name).update(row_id, changes, self.now(), self.switches)

    def delete(self, practice_id: str, list_name: str, row_id: str) -> None:
        """Take a row away without a trace.

        Raises:
            NoSuchRowError: There is no such row.
        """
        with self.platform.lock:
            self._table(practice_id, list_name).delete(row_id, self.now(), self.switches)

    def describe(self) -> dict[str, Any]:
        """Return the sign-in that a client needs, as `--json` prints it."""
        return self.platform.describe(self.base_url)

    def _table(self, practice_id: str, list_name: str) -> Table:
        return self.platform.table(practice_id, list_name)
