"""Message status webhooks (contract: Message status webhook).

Each status is sent once, in order; only the latest if statuses change faster than they are delivered.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

from vetl_sandbox.messages.message import Message
from vetl_sandbox.webhooks.deliveries import Deliveries, Webhook

USER_AGENT: Final = "Service-Messages/1.0"


@dataclass
class MessageStatusWebhooks:
    """Sends the status changes of messages. `target` maps a callback address to the address that is used."""

    deliveries: Deliveries
    target: Callable[[str | None], str | None]
    _sent: dict[str, int] = field(default_factory=dict)
    _busy: set[str] = field(default_factory=set)

    def changed(self, message: Message) -> None:
        """Send a message's new status, or send it after the current delivery if it is still new then."""
        url = self.target(message.callback_url)
        if url is None or message.id in self._busy or self._sent.get(message.id, -1) >= message.place:
            return
        self._busy.add(message.id)
        self._sent[message.id] = message.place
        payload = message.record | {
            "event": f"message.{message.status}",
            "event_id": f"evt_{uuid4().hex}",
            "clinic_id": message.practice_id,
            "occurred_at": message.changed_at,
        }
        webhook = Webhook("messages", url, USER_AGENT, message.practice_id, payload)
        self.deliveries.send(webhook, then=lambda _: self._finished(message))

    def _finished(self, message: Message) -> None:
        self._busy.discard(message.id)
        self.changed(message)
