"""The three webhooks of the platform, and the address of each."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from vetl_sandbox.ground import Ground
from vetl_sandbox.outreach import FINAL
from vetl_sandbox.resources.resource import Record
from vetl_sandbox.webhooks.deliveries import Deliveries, Webhook
from vetl_sandbox.webhooks.faults import WebhookFaults
from vetl_sandbox.webhooks.message_status import MessageStatusWebhooks
from vetl_sandbox.webhooks.outcomes import outcome_of
from vetl_sandbox.webhooks.reminders import USER_AGENT, reminders_of

_HOUR: Final = timedelta(hours=1)


class Events:
    """The senders of webhooks.

    With `webhooks_to` set, every webhook goes below that address (`/messages`, `/ai_outbound`,
    `/service_reminders`). From then on the world's own outreach and reminders are sent as well.
    """

    def __init__(self, ground: Ground, secret: str) -> None:
        self._ground = ground
        self.deliveries = Deliveries(
            agenda=ground.agenda,
            now=ground.now,
            switches=lambda: ground.switches,
            secret=secret,
            practices=tuple(ground.world.practices),
            faults=WebhookFaults(seed=ground.world.seed),
        )
        self.messages = MessageStatusWebhooks(self.deliveries, lambda url: self._url("messages", url))
        self._watched_until: datetime | None = None

    def outreach_finished(
        self, practice_id: str, request: Record, appointment_id: str | None, callback_url: str | None
    ) -> None:
        """Send the outcome of a request that has ended."""
        url = self._url("ai_outbound", callback_url)
        if url is not None:
            self.deliveries.send(outcome_of(practice_id, request, appointment_id, url))

    def _remind(self, payload: dict[str, Any]) -> None:
        """Send the reminder of a notification rule that has triggered."""
        url = self._url("service_reminders", None)
        if url is not None:
            self.deliveries.send(Webhook("service_reminders", url, USER_AGENT, payload["practice_id"], payload))

    def watch(self) -> None:
        """Begin to send the world's own events, if there is an address for them."""
        if self._ground.switches.webhooks_to is not None and self._watched_until is None:
            self._watched_until = self._ground.now()
            self._look_ahead()

    def _url(self, kind: str, callback_url: str | None) -> str | None:
        everything = self._ground.switches.webhooks_to
        return callback_url if everything is None else f"{everything.rstrip('/')}/{kind}"

    def _look_ahead(self) -> None:
        """Put the world's events of the next hour on the agenda, and the next look."""
        since = self._watched_until
        assert since is not None
        if self._ground.switches.webhooks_to is None:
            self._watched_until = None
            return
        self._watched_until = until = since + _HOUR
        for practice_id in self._ground.world.practices:
            self._outreach_between(practice_id, since, until)
            self._reminders_between(practice_id, since, until)
        self._ground.agenda.add(until, self._look_ahead)

    def _outreach_between(self, practice_id: str, since: datetime, until: datetime) -> None:
        ground = self._ground
        coming = ground.world.coming(practice_id, "ai_outbound", since, until)
        for row in coming.iter_rows(named=True):
            if row["status"] in FINAL:
                number, appointment = row["number"], row["appointment"] if row["outcome"] == "booked" else None
                ground.agenda.add(
                    row["valid_from"],
                    lambda number=number, appointment=appointment: self._drawn_finished(
                        practice_id, number, appointment
                    ),
                )

    def _drawn_finished(self, practice_id: str, number: int, appointment: int | None) -> None:
        ground = self._ground
        with ground.lock:
            table = ground.table(practice_id, "ai_outbound")
            snapshot = table.snapshot(ground.now(), ground.switches)
            place = snapshot.place(number)
            requests = [] if place is None else table.records(snapshot.frame.slice(place, 1), snapshot)
        for request in requests:
            self.outreach_finished(practice_id, request, None if appointment is None else str(appointment), None)

    def _reminders_between(self, practice_id: str, since: datetime, until: datetime) -> None:
        world = self._ground.world
        practice = world.practices[practice_id]
        days = {moment.astimezone(practice.zone).date() for moment in (since, until)}
        for day in sorted(days):
            for reminder in reminders_of(practice, world.people(practice_id), world.seed, day):
                if since < reminder.at.astimezone(UTC) <= until:
                    self._ground.agenda.add(reminder.at, lambda payload=reminder.payload: self._remind(payload))
