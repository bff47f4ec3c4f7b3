"""A real warehouse instead of `CallStore`: a strategy's saves go through `pipelines.loading`."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date
from typing import Any

from support.call_store import Details
from support.model_calls import CsvRow
from support.warehouse_with_rows import Filled, call_line, csv_page

from pipelines.core.steps import Question, Save
from pipelines.endpoints.phone_calls import PHONE_CALLS
from pipelines.loading.phone_calls.frames import CallTexts

SHOWN = "strftime(called_at_local, '%Y-%m-%d %H:%M'), " + ", ".join(
    f"coalesce({name}, '')" for name in ("phone_number", "state", "client_name", "outcome", "summary")
)
NOT_TOLD = dict.fromkeys(
    (
        "practice",
        "direction",
        "caller_type",
        "patient_name",
        "call_classification",
        "booking_intent",
        "customer_sentiment",
        "booked",
        "duration_seconds",
    ),
    "",
)
"""Columns of the CSV that the model leaves empty, as it does in its JSON records."""


def as_page(rows: Sequence[CsvRow]) -> CallTexts:
    """Return a page of the CSV as the client passes it on."""
    names = ("phone_number", "state", "client_name", "outcome", "summary")
    lines = [call_line(minute, **dict(zip(names, cells, strict=True)), **NOT_TOLD) for minute, *cells in rows]
    return csv_page(*lines)


class CallWarehouse:
    """One practice of a warehouse. Saves wait until they are committed, as in the engine's buffer."""

    def __init__(self, filled: Filled) -> None:
        self._filled = filled
        self._waiting: list[Save] = []

    @property
    def cursor(self) -> dict[str, Any]:
        return self._filled.warehouse.cursor(self._filled.practice.id, PHONE_CALLS.name) or {}

    @property
    def capabilities(self) -> dict[str, Any]:
        return self._filled.warehouse.capabilities(self._filled.practice.id, PHONE_CALLS.name)

    def put(self, step: Save) -> None:
        self._waiting.append(step)

    def lose(self) -> None:
        self._waiting = []

    def flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._filled.warehouse.commit("run", self._filled.practice.id, PHONE_CALLS, waiting)

    def answer(self, question: Question) -> Any:
        return self._filled.answer(PHONE_CALLS, question)

    def rows(self, first: date, last: date) -> Counter[CsvRow]:
        """Return the stored calls of these days, as the CSV shows them."""
        return Counter(self._select(SHOWN, f"and call_date between '{first}' and '{last}'"))

    def attached(self) -> Counter[tuple[CsvRow, Details | None]]:
        """Return every stored call, with its details."""
        rows = self._select(f"{SHOWN}, id, client_id, remote_client_id")
        return Counter((row[:6], row[6:] if row[6] else None) for row in rows)

    def instants(self) -> Counter[Any]:
        """Return the id and the minute of every stored call, in UTC."""
        rows = self._select("id, called_at")
        return Counter((identity, at.astimezone(UTC)) for identity, at in rows)

    def keys(self) -> list[tuple[str, str, str]]:
        """Return the key, the local minute and the phone number of every call that was ever stored."""
        return self._filled.rows(
            "select call_key, strftime(called_at_local, '%Y-%m-%d %H:%M'), phone_number from raw.phone_calls"
            f" where practice_id = '{self._filled.practice.id}'"
        )

    def _select(self, columns: str, condition: str = "") -> list[tuple[Any, ...]]:
        return self._filled.rows(
            f"select {columns} from raw.phone_calls"
            f" where practice_id = '{self._filled.practice.id}' and _deleted_at is null {condition}"
        )
