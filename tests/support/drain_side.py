"""An inbox and a warehouse, and the drain from the first to the second."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from support.deliveries import body_of
from vetl.core.list_read import Practice
from vetl.core.pages import Changes
from vetl.endpoints import REGISTRY
from vetl.partner.webhooks import Channel, parse_delivery
from vetl.receiving.inbox import Entry, Inbox
from vetl.receiving.into_warehouse import drain
from vetl.store.warehouse import Warehouse

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PRACTICE = Practice("loc-001", "Harbor", "America/New_York", date(2026, 1, 1))

Delivered = tuple[str, dict[str, Any] | bytes]


class Side:
    def __init__(self, folder: Path) -> None:
        self.inbox = Inbox.open(folder / "inbox.sqlite")
        self.warehouse = Warehouse.open(folder / "vetl.duckdb", REGISTRY, lock_wait_seconds=0)
        self.warehouse.set_practices([PRACTICE])
        self.path = folder / "vetl.duckdb"

    def receive(self, *deliveries: Delivered, practice: str = "loc-001") -> None:
        entries: list[Entry] = []
        for channel, payload in deliveries:
            body = payload if isinstance(payload, bytes) else body_of(payload)
            delivery = parse_delivery(Channel(channel), body)
            entries.append(Entry(delivery.channel, delivery.practice_id or practice, body, NOW))
        self.inbox.keep(entries)

    def drain(self) -> Changes:
        return drain(self.inbox, self.warehouse, "run-1")[1]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.warehouse._connection.execute(sql).fetchall()  # pyright: ignore[reportPrivateUsage] - it is one file

    def close(self) -> None:
        self.inbox.close()
        self.warehouse.close()
