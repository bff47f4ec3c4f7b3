"""The phone calls as CSV (contract: List phone calls, CSV response)."""

from io import BytesIO
from typing import Any, Final
from zoneinfo import ZoneInfo

import polars as pl

from vetl_sandbox.contract import CSV_COLUMNS
from vetl_sandbox.resources.phone_calls import render
from vetl_sandbox.resources.resource import Record, Scene, instant
from vetl_sandbox.table import Snapshot, Table
from vetl_sandbox.world import vocabulary as v
from vetl_sandbox.world.hours import to_local

_FIELDS: Final = (
    "created_at", "practice_name", "direction", "state", "caller_type", "client_name", "patient_name",
    "phone_number", "call_classification", "booking_intent", "summary", "customer_sentiment", "outcome",
    "booked", "duration_seconds",
)  # fmt: skip
_ALWAYS_HUMANIZED: Final = ("call_classification", "customer_sentiment", "outcome")
_HUMANIZED_BY_SWITCH: Final = ("direction", "state", "caller_type")
_MINUTE: Final = "%Y-%m-%d %H:%M"


def humanize(value: str) -> str:
    """Turn `appointment_booked` into `Appointment booked`."""
    return value.replace("_", " ").capitalize()


_LABELS: Final = {
    field: pl.Enum([humanize(value) for value in vocabulary.values])
    for field, vocabulary in (
        ("call_classification", v.CLASSIFICATIONS),
        ("customer_sentiment", v.SENTIMENTS),
        ("outcome", v.OUTCOMES),
        ("direction", v.DIRECTIONS),
        ("state", v.CALL_STATES),
        ("caller_type", v.CALLER_TYPES),
    )
}


def render_csv(table: Table, snapshot: Snapshot, rows: pl.DataFrame) -> bytes:
    """Return rows of a snapshot as a CSV with its header line, in their order."""
    scene = table.scene(snapshot.switches)
    places = rows.with_row_index("place")
    drawn = places.filter(pl.col("written").is_null())
    lines = _drawn_lines(drawn, scene).with_columns(drawn["place"])
    written = places.filter(pl.col("written").is_not_null())
    if written.height:
        records = [_written_line(snapshot.written[place], scene) for place in written["written"]]
        extra = pl.DataFrame(records, schema=dict.fromkeys(CSV_COLUMNS, pl.String)).with_columns(written["place"])
        texts = lines.with_columns(pl.selectors.enum().cast(pl.String))
        lines = pl.concat([texts, extra]).sort("place")
    page = BytesIO()
    lines.select(CSV_COLUMNS).write_csv(page, line_terminator=scene.switches.csv_newline)
    return page.getvalue()


def _humanized(scene: Scene) -> tuple[str, ...]:
    by_switch = _HUMANIZED_BY_SWITCH if scene.switches.csv_labels == "humanized" else ()
    return (*_ALWAYS_HUMANIZED, *by_switch)


def _drawn_lines(rows: pl.DataFrame, scene: Scene) -> pl.DataFrame:
    instants = rows["created_at"].cast(pl.Datetime("ms", "UTC")).to_physical().to_numpy()
    local = pl.Series("created_at", to_local(instants, scene.practice.time_zone)).cast(pl.Datetime("ms"))
    seconds = pl.col("duration_seconds").cast(pl.Int32)
    line = render(rows, scene).with_columns(
        local.dt.strftime(_MINUTE),
        *(pl.col(name).to_physical().cat.to(_LABELS[name]) for name in _humanized(scene)),
        *(_yes_or_no(name) for name in ("booking_intent", "booked")),
        duration_seconds=pl.format("{}:{}", seconds // 60, (seconds % 60).cast(pl.String).str.zfill(2)),
    )
    return line.select(pl.col(field).alias(column) for field, column in zip(_FIELDS, CSV_COLUMNS, strict=True))


def _yes_or_no(name: str) -> pl.Expr:
    return pl.when(name).then(pl.lit("Yes")).otherwise(pl.lit("No")).alias(name)


def _written_line(record: Record, scene: Scene) -> dict[str, str | None]:
    line: dict[str, Any] = {column: record.get(field) for field, column in zip(_FIELDS, CSV_COLUMNS, strict=True)}
    created = instant(line["Date"])
    if created is not None:
        line["Date"] = created.astimezone(ZoneInfo(scene.practice.time_zone)).strftime(_MINUTE)
    for field, column in zip(_FIELDS, CSV_COLUMNS, strict=True):
        if field in _humanized(scene) and line[column] is not None:
            line[column] = humanize(str(line[column]))
    for column in ("Booking Intent", "Booked"):
        line[column] = "Yes" if line[column] else "No"
    if isinstance(line["Duration"], int):
        line["Duration"] = "{}:{:02}".format(*divmod(line["Duration"], 60))
    return {column: None if value is None else str(value) for column, value in line.items()}
