"""The answers of `vetl metric`, from the file alone, compared with the marts; and the refused questions."""

import shutil
from pathlib import Path

import duckdb
import pytest
from support.cells import Cells, Query, assert_equal, cells, rate
from support.dbt_build import Build
from support.metric_marts import MARTS, RATES, Mart

from pipelines.core.errors import WrongUse
from pipelines.loading.published.figures.ask import MetricAnswer, MetricQuestion, ask

BY_DAY = ("practice", "day")


@pytest.fixture(scope="module")
def file(filled: Build, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a copy, because DuckDB opens one file only once with one configuration in a process."""
    return Path(shutil.copy(filled.warehouse, tmp_path_factory.mktemp("metrics")))


def values(answer: MetricAnswer, key: int) -> Cells:
    return {name: row[-3:-2] for name, row in cells(answer.rows, key).items()}


def in_use(rows: Cells) -> Cells:
    """Return the cells with a value: a mart has a row for a day with another count."""
    return {key: row for key, row in rows.items() if row != (None,)}


@pytest.mark.parametrize(
    ("mart", "column"),
    [pytest.param(mart, column, id=metric) for mart in MARTS for column, metric in mart.metrics.items()],
)
def test_a_metric_by_the_grain_of_its_mart_is_the_mart(mart: Mart, column: str, file: Path, query: Query) -> None:
    by = (*BY_DAY, *mart.dimensions)
    answer = ask(file, MetricQuestion(mart.metrics[column], by))
    expected = query(
        f"select practice_id, day, {''.join(f'{name}, ' for name in mart.dimensions)}{column}"
        f" from marts.{mart.daily}"
    )

    assert_equal(in_use(cells(expected, len(by))), in_use(values(answer, len(by))))
    assert any(row[-2] for row in answer.rows)


@pytest.mark.parametrize("name", [name for name in RATES if name != "drop_off_rate"])
def test_a_rate_of_a_week_is_taken_of_its_sums(name: str, file: Path) -> None:
    def of(metric: str) -> Cells:
        return values(ask(file, MetricQuestion(metric, ("practice", "week"))), 2)

    numerator, denominator = (of(part) for part in RATES[name])
    expected = {key: (rate(numerator[key][0], denominator[key][0]),) for key in denominator}

    assert_equal(expected, of(name))


@pytest.mark.parametrize("period", ["day", "week"])
@pytest.mark.parametrize("name", ["unique_callers", "missed_callers", "recovered_within_7_days"])
def test_people_are_read_from_the_mart_that_counts_them(name: str, period: str, file: Path, query: Query) -> None:
    mart = {"day": "practice_daily", "week": "practice_weekly"}[period]
    answer = ask(file, MetricQuestion(name, ("practice", period)))

    assert_equal(cells(query(f"select practice_id, {period}, {name} from marts.{mart}"), 2), values(answer, 2))


def test_a_comparison_limits_the_rows_and_null_is_a_value(file: Path, query: Query) -> None:
    for where, condition in {
        "direction=inbound": "direction = 'inbound'",
        "direction!=inbound": "direction is distinct from 'inbound'",
        "caller_type=null": "caller_type is null",
        "caller_type!=null": "caller_type is not null",
        "hour_of_day<=9": "extract(hour from called_at_local) <= 9",
    }.items():
        expected = query(f"select count(*) from marts.phone_calls where {condition}")[0][0]
        assert ask(file, MetricQuestion("calls", where=[where])).rows[0][0] == expected, where


def test_a_period_is_final_only_if_each_of_its_days_is(file: Path, query: Query) -> None:
    expected = query(
        "select practice_id, month, count(*), bool_and(is_final) from marts.practice_days group by all"
    )
    answer = ask(file, MetricQuestion("calls", ("practice", "month")))

    days = {row[:2]: row[2:] for row in expected}
    assert {row[:2]: row[-2:] for row in answer.rows} == {
        row[:2]: days.get(row[:2], (0, False))
        for row in answer.rows  # a practice that was taken out has no days
    }
    assert {True, False} == {row[-1] for row in expected}


@pytest.mark.parametrize(("metric", "days"), [("calls", 0), ("rebooked_rate", 30)])
def test_a_value_is_final_only_after_the_days_in_which_it_can_grow(
    metric: str, days: int, file: Path, tmp_path: Path
) -> None:
    """The random rows are of four weeks, so the practices of this copy were read three weeks later."""
    later = Path(shutil.copy(file, tmp_path / "later.duckdb"))
    with duckdb.connect(later) as connection:
        connection.execute("set TimeZone = 'UTC'; update marts.practices set as_of = as_of + interval 21 days")
        rows = connection.execute(
            f"select practice_id, day, is_final and ends_at + interval {24 * days} hours <= as_of"
            " from marts.practice_days join marts.practices using (practice_id)"
        ).fetchall()
    is_final = {row[:2]: row[2] for row in rows}

    answer = {row[:2]: row[-1] for row in ask(later, MetricQuestion(metric, BY_DAY)).rows}

    assert answer == {key: is_final.get(key, False) for key in answer}
    assert {True, False} == set(answer.values())


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (MetricQuestion("unique_callers"), "do not add up; ask --by practice,day or --by practice,week"),
        (MetricQuestion("unique_callers", ("practice", "month")), "unknown|not known|do not add up"),
        (MetricQuestion("unique_callers", ("day",)), "do not add up"),
        (MetricQuestion("unique_callers", ("practice", "day", "week")), "do not add up"),
        (MetricQuestion("drop_off_rate"), "counts at each stage, so they do not add up; ask --by stage"),
        (MetricQuestion("stage_reached", ("day",)), "ask --by stage"),
        (MetricQuestion("cals"), "metric cals: not known here; did you mean calls"),
        (MetricQuestion("calls", ("pratice",)), "--by pratice: not known here; did you mean practice"),
        (MetricQuestion("calls", where=["state = 'x' or 1=1; drop table marts.phone_calls"]), "^$"),
        (MetricQuestion("calls", where=["1=1"]), "--where 1: not known"),
        (MetricQuestion("calls", where=["(select 1)=1"]), "must be a dimension"),
        (MetricQuestion("calls", where=["client_name=Ann"]), "not known here"),
        (MetricQuestion("calls", where=["direction<null"]), "null can only be compared"),
        (MetricQuestion("calls", where=["hour_of_day<x"]), "Could not convert"),
    ],
)
def test_a_question_with_no_right_answer_is_refused_in_one_line(
    question: MetricQuestion, message: str, file: Path
) -> None:
    if message == "^$":  # SQL in a value is only a text that no row has
        assert ask(file, question).rows == [(0, *ask(file, question).rows[0][1:])]
        return
    with pytest.raises(WrongUse, match=message) as refused:
        ask(file, question)

    assert "\n" not in str(refused.value)
