"""The marts of predicted calls, implemented a second time: the newest prediction of each hour, and its score."""

from collections import defaultdict
from datetime import timedelta
from typing import Any

from support.cells import rate
from support.demand import wanted_of
from support.expected.calls import ANSWERED
from support.expected.practice import practice_days
from support.mart_inputs import Expected, Known
from support.random_rows import Row
from support.random_rows_beside import MEASURES


def calls_forecast(source: Known) -> Expected:
    over = {key for key, row in practice_days(source).items() if tuple(row)[4]}
    counted = _counted(source)
    newest: dict[Any, Row] = {}
    for row in sorted(source.tables.get("control.forecasts", ()), key=lambda row: row["made_at"]):
        newest[row["practice_id"], row["day"], row["hour"]] = row
    return {key: _shown(row, counted[key] if key[:2] in over else None) for key, row in newest.items()}


def _counted(source: Known) -> dict[Any, dict[str, Any]]:
    hours: dict[Any, dict[str, Any]] = defaultdict(lambda: dict.fromkeys(MEASURES, 0))
    for row in source.rows("phone_calls"):
        if row["direction"] == "inbound":
            hour = hours[row["practice_id"], row["call_date"], row["called_at_local"].hour]
            hour["calls"] += 1
            hour["bookable_calls"] += wanted_of(row) == "new_booking"
            if row["state"] in ANSWERED:
                hour["staff_minutes"] += (row["duration_seconds"] or 0) / 60
    return hours


def _shown(row: Row, counted: dict[str, Any] | None) -> dict[str, Any]:
    shown = {name: row[name] for name in ("made_on", "made_at", "weeks")}
    for measure in MEASURES:
        ends = {f"{measure}_{name}": row[f"{measure}_{name}"] for name in ("low", "high", "naive")}
        shown |= {f"{measure}_expected": row[measure], **ends}
        shown[f"{measure}_counted"] = counted[measure] if counted else None
    return {"weekday": row["day"].isoweekday(), **shown, "is_over": counted is not None}


def calls_forecast_scores(source: Known) -> Expected:
    weeks: dict[Any, list[tuple[bool, float, float]]] = defaultdict(list)
    for (practice, day, _), found in calls_forecast(source).items():
        row = dict(found)
        for measure in MEASURES if row["is_over"] else ():
            count, low, high = (row[f"{measure}_{name}"] for name in ("counted", "low", "high"))
            errors = (abs(count - row[f"{measure}_{name}"]) for name in ("expected", "naive"))
            week = day - timedelta(days=day.weekday())
            weeks[practice, week, measure].append((low <= count <= high, *errors))
    return {key: _scored(hours) for key, hours in weeks.items()}


def _scored(hours: list[tuple[bool, float, float]]) -> dict[str, Any]:
    within, error, naive = (sum(column) for column in zip(*hours, strict=True))
    return {
        "hours": len(hours),
        "hours_within": within,
        "coverage": rate(int(within), len(hours)),
        "error": error,
        "naive_error": naive,
        "error_beside_naive": error / naive if naive else None,
    }
