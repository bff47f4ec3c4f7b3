"""The rows that `vetl explain` names give the cell of the mart, for every measure that is declared."""

import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from support.cells import Query, same
from support.dbt_build import Build

from pipelines.core.errors import WrongUse
from pipelines.loading.published.figures.explain import CellQuestion, explain, explainable

COUNTING = (
    *("booking_funnel_daily", "booking_funnel_stages", "appointments_daily", "booking_intent_daily"),
    *("booking_intent_hourly", "outreach_outcomes_daily", "outreach_suppressions_daily"),
    *("staff_task_turnaround_daily", "demand_daily", "practice_daily", "practice_weekly", "acts_daily"),
)
"""The marts that count rows of other marts."""

PEOPLE = (
    "unique_callers",
    "new_booking_callers",
    "booked_within_7_days",
    "missed_callers",
    "recovered_within_7_days",
)

OVERVIEW = {"leaks", "anonymous_leaks", "inbound_calls", "answered_inbound_calls"}
NOT_DECLARED = {
    "booking_funnel_stages": {"position", "reached", "continued", "drop_off_rate"},
    "appointments_daily": {"kept", "canceled", "no_show", "open", "booked_exactly", "share_attributable"},
    "booking_intent_hourly": {"unanswered_inbound_calls", "missed_bookable_inbound_calls", "hours"},
    "staff_task_turnaround_daily": {"reopened"},
    "demand_daily": {
        *("booked_within_1_day", "booked_within_7_days", "booked_within_14_days"),
        *("leaked", "anonymous", "anonymous_leaked"),
    },
    "practice_daily": {*PEOPLE, *OVERVIEW},
    "practice_weekly": {*PEOPLE, *OVERVIEW},
}
"""Measures whose rows are not declared yet: this list may only become shorter."""


@pytest.fixture(scope="module")
def file(filled: Build, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a copy, because DuckDB opens one file only once with one configuration in a process."""
    return Path(shutil.copy(filled.warehouse, tmp_path_factory.mktemp("explain")))


def grain(build: Build, mart: str) -> list[str]:
    return build.manifest["nodes"][f"model.vetl.{mart}"]["config"]["meta"]["grain"].split(", ")


def question(mart: str, column: str, key: dict[str, Any]) -> CellQuestion:
    """Return the question for the cell of one row of a mart."""
    practice, day = key.pop("practice_id"), key.pop("day", key.pop("week", None))
    if "hour" in key:
        key["hour_of_day"] = key.pop("hour")
    where = [f"{name}={'null' if value is None else value}" for name, value in key.items()]
    if day is None and mart != "booking_intent_hourly":
        where.append(f"{'week' if mart == 'practice_weekly' else 'day'}=null")
    return CellQuestion(mart, column, practice, day, where)


@pytest.mark.parametrize("mart", COUNTING)
def test_the_rows_give_the_cell(mart: str, file: Path, filled: Build, query: Query) -> None:
    columns = [column for name, column in explainable(file) if name == mart]
    names = grain(filled, mart)

    assert columns
    for column in columns:
        rows = query(
            f"select {', '.join(names)}, {column} from marts.{mart} order by {column} desc nulls last,"
            f" {', '.join(names)} limit 1"
        ) + query(
            f"select {', '.join(names)}, {column} from marts.{mart} order by {', '.join(names)} limit 1 offset 7"
        )
        for *key, value in rows:
            found = explain(file, question(mart, column, dict(zip(names, key, strict=True))))
            assert same(value, found.value), (column, key)
            assert same(value, found.recounted), (column, key)
            if found.metric.aggregation == "count":
                assert len(found.rows) == value, (column, key)


@pytest.mark.parametrize("mart", COUNTING)
def test_every_measure_is_declared_or_in_the_list(mart: str, file: Path, filled: Build, query: Query) -> None:
    declared = {column for name, column in explainable(file) if name == mart}
    numbers = {
        name
        for name, kind in query(
            f"select column_name, data_type from duckdb_columns() where table_name = '{mart}'"
            " and schema_name = 'marts'"
        )
        if kind in {"BIGINT", "DOUBLE", "INTEGER"} and not name.startswith("previous_")
    }

    assert numbers - declared - set(grain(filled, mart)) == NOT_DECLARED.get(mart, set())


def test_a_rate_has_the_rows_of_both_counts_and_its_evidence(file: Path, query: Query) -> None:
    ((practice, day),) = query(
        "select practice_id, day from marts.booking_intent_daily where intent_calls > 1 and day is not null"
        " group by all order by sum(intent_calls) desc, 1, 2 limit 1"
    )
    found = explain(file, CellQuestion("booking_intent_daily", "intent_conversion_rate", practice, day))
    expected = query(
        "select sum(intent_booked_calls), sum(intent_calls) from marts.booking_intent_daily"
        f" where practice_id = '{practice}' and day = date '{day}'"
    )
    counts = [row[0] for row in found.rows]

    assert [(counts.count("numerator"), counts.count("denominator"))] == expected
    assert same(found.value, expected[0][0] / expected[0][1])
    assert {item.endpoint for item in found.certificates} <= {"phone_calls"}
    assert "call_key" in found.columns
    assert not {"client_name", "phone_number", "summary"} & set(found.columns)


def test_what_a_report_said_before_is_told_for_a_day_of_a_practice(file: Path, query: Query) -> None:
    ((practice, day, reported, now),) = query(
        "select practice_id, day, reported, now from marts.report_revisions"
        " where mart = 'booking_intent_daily' and measure = 'calls' and now > 0 order by all limit 1"
    )
    found = explain(file, CellQuestion("booking_intent_daily", "calls", practice, day))

    assert [(item.reported, item.now) for item in found.revisions] == [(reported, now)]
    assert found.value == now


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (CellQuestion("bookings", "calls"), "mart bookings: not known here"),
        (CellQuestion("practice_daily", "cals"), "practice_daily cals: not known here; did you mean calls"),
        (
            CellQuestion("practice_daily", "unique_callers"),
            "its rows are not declared; of practice_daily these are",
        ),
        (CellQuestion("practices", "name"), "its rows are not declared; `vetl explain` lists"),
        (CellQuestion("practice_daily", "calls", "nobody"), "no row is chosen"),
        (CellQuestion("booking_intent_hourly", "calls", day=date(2025, 3, 1)), "has no days"),
        (
            CellQuestion("practice_daily", "calls", where=["direction=inbound"]),
            "--where direction: not known here",
        ),
        (CellQuestion("staff_task_turnaround_daily", "median_hours_to_finalize"), "values do not add up"),
    ],
)
def test_a_figure_that_cannot_be_explained_gets_one_line(asked: CellQuestion, message: str, file: Path) -> None:
    with pytest.raises(WrongUse, match=message) as refused:
        explain(file, asked)

    assert "\n" not in str(refused.value)
