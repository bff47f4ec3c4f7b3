"""A platform that sends webhooks to a receiver, and the warehouse that the receiver is drained into."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import vetl_sandbox
from support.partner_side import Partner, made
from support.sandbox_settings import changed, settings_for
from support.warehouse_with_rows import ask
from vetl_sandbox.webhooks.deliveries import Attempt

Values = tuple[Any, ...]

MESSAGE_TEXTS = (
    "id", "reference_id", "status", "status_reason", "channel_requested", "channel_used", "client_id",
    "error_code", "error_message",
)  # fmt: skip
MESSAGE_TIMES = ("sent_at", "delivered_at", "read_at", "failed_at", "created_at")
NUMBERS = (0, 1, 2, 4, 6, 12, 13, 15, 16, 18)
"""The last digits of the texted numbers decide the result of a message (docs/sandbox.md)."""

FALSE = ("forged", "unsigned", "tampered", "wrong_practice")


class WebhookSide:
    """`inbox` is the receiver's file."""

    def __init__(self, platform: vetl_sandbox.Handle, folder: Path, inbox: Path) -> None:
        self.platform = platform
        self._reached = 0
        self.partners = {item.id: Partner(platform, item.id) for item in platform.practices}
        self.settings = changed(settings_for(platform, folder, days=365), webhooks={"inbox": inbox})

    def into_sending_hours(self) -> None:
        """Move to 8am to 9pm in every practice's own time (contract: Limits): noon in central America."""
        self.platform.advance(timedelta(hours=(18 - self.platform.now().hour) % 24))

    def send_message(self, number: int, practice_id: str = "loc-001") -> tuple[str, str]:
        """Text a client. Return the practice and the message's id."""
        partner = self.partners[practice_id]
        partner.sign_in()
        message = {"recipient": {"phone_number": f"+121255501{number:02}"}, "fallback_text": "Rex is due."}
        return practice_id, made(partner.post("messages", message))["id"]

    def reach_out(self, practice_id: str) -> None:
        """Request outreach that ends with a booking, and outreach that is suppressed, fails or is opted out of."""
        owners = list(dict.fromkeys(row["client_id"] for row in self.platform.truth(practice_id, "patients")))
        partner = self.partners[practice_id]
        partner.sign_in()
        # A recently contacted client is not contacted again, so of several requests some reach a booking.
        for number, client in zip((0, 1, 21, 22, 23, 23, 23, 23), owners[self._reached :], strict=False):
            self._reached += 1
            asked = {"channel": "sms", "purpose": "general", "client_id": client}
            content = {**asked, "contact_number": f"+12125550{number + 200}"}
            made(partner.post("ai_outbound/requests", content))

    def truth(self, messages: Iterable[tuple[str, str]]) -> list[Values]:
        """Return the messages as the platform holds them, every field."""
        rows: list[Values] = []
        for practice_id, identity in messages:
            self.partners[practice_id].sign_in()
            row = self.partners[practice_id].page(f"messages/{identity}")
            times = [datetime.fromisoformat(row[name]) if row[name] else None for name in MESSAGE_TIMES]
            rows.append((practice_id, *(row[name] for name in MESSAGE_TEXTS), *times))
        return sorted(rows, key=str)

    def messages(self) -> list[Values]:
        names = ", ".join(("practice_id", *MESSAGE_TEXTS, *MESSAGE_TIMES))
        rows = self.rows(f"select {names} from raw.messages")
        utc = [tuple(item.astimezone(UTC) if isinstance(item, datetime) else item for item in row) for row in rows]
        return sorted(utc, key=str)

    def deliveries_of(self, kind: str) -> list[Attempt]:
        """Return the platform's own deliveries of this kind, each attempt."""
        return [item for item in self.platform.webhooks if item.kind == kind and item.fault not in FALSE]

    def rows(self, sql: str) -> list[Values]:
        return ask(self.settings.warehouse.path, sql)
