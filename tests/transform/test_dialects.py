"""The differences between engines are only in `dbt/macros/dialect`, which has them for each engine."""

import re
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import jinja2
import polars as pl
import pytest
from support.zones import other_rules
from vetl.bundled import dbt_project
from vetl.core.zones import zone
from vetl.store.instants import differences

MACROS = dbt_project() / "macros"
DIALECT = sorted((MACROS / "dialect").glob("*.sql"))
DISPATCHED = sorted(re.findall(r"dispatch\('(\w+)', 'vetl'\)", "".join(path.read_text() for path in DIALECT)))

DUCKDB_ONLY = re.compile(r"\b(timezone|date_diff|isodow|unnest|generate_series|strftime|epoch)\(|'g'\)|::")
NEITHER = re.compile(r"at time zone|quantile_cont|arg_max|\* exclude|\bcurrent_|\bnow\(\)|\"")
"""Syntax that differs on the other engine, or uses this machine's clock: the models have macros for it."""
SPARK_ONLY = re.compile(r"\b(convert_timezone|timestampdiff|explode|sequence|weekday)\(|timestamp_ntz")
ONE_ENGINE = (DUCKDB_ONLY, SPARK_ONLY, NEITHER)

SUMMER = "timestamptz '2025-07-01 12:00:00+00'"
QUESTIONS: dict[str, tuple[tuple[Any, ...], list[str]]] = {
    "local_time": ((SUMMER, "'America/New_York'"), ["2025-07-01 08:00:00"]),
    "instant_at": (  # midnight strikes twice
        ("timestamp '2025-11-02 00:00:00'", "'America/Havana'"),
        ["2025-11-02 04:00:00+00"],
    ),
    "microseconds_between": ((SUMMER, "timestamptz '2025-07-01 14:30:00.5+00'"), ["9000500000"]),
    "days_between": (("date '2025-02-27'", "date '2025-03-02'"), ["3"]),
    "iso_weekday": (("date '2025-03-02'",), ["7"]),
    "each_day": (("date '2025-02-28'", "date '2025-03-01'"), ["2025-02-28", "2025-03-01"]),
    "each_hour": (
        (SUMMER, "timestamptz '2025-07-01 13:00:00+00'"),
        ["2025-07-01 12:00:00+00", "2025-07-01 13:00:00+00"],
    ),
    "text_literal": (("it isn't \\ so",), ["it isn't \\ so"]),
    "literal_rows": (([["it isn't \\ so"]],), ["it isn't \\ so"]),
    "each_record": (
        ('\'{"told": [{"list": "calls", "rows": 2}, {"list": "tasks"}]}\'', "$.told", "list rows"),
        ["{'list': calls, 'rows': 2}", "{'list': tasks, 'rows': NULL}"],
    ),
    "median": (("2.5e0",), ["2.5"]),
    "last_known": (("'a'", "1", "1"), ["a"]),
    # Another DuckDB may give another value: then they are built again once.
    "row_hash": (("'a'", "'b'"), ["12948210438678865616"]),
    "all_except": (("pairs", ["name"]), ["1"]),
}
"""The arguments of each macro, and its answers on DuckDB."""


CORRECTIONS: dict[str, list[tuple[str, str, int]]] = {}
"""The variable `zone_corrections`."""


@cache
def macros(engine: str) -> Any:
    """Return every macro, as dbt dispatches it for an engine."""

    def give_back(value: str) -> str:
        return value

    # A materialization is written with a tag of dbt's own.
    text = "\n".join(path.read_text() for path in MACROS.rglob("*.sql") if path.parent.name != "materializations")
    environment = jinja2.Environment(extensions=["jinja2.ext.do"], autoescape=False)
    module: Any = None

    def dispatch(macro: str, _package: str) -> Any:
        return getattr(module, f"{engine}__{macro}", None) or getattr(module, f"default__{macro}")

    names: Any = environment.globals
    variables = {"zone_corrections": CORRECTIONS}
    names.update(
        {"adapter": SimpleNamespace(dispatch=dispatch), "return": give_back, "var": variables.__getitem__}
    )
    module = environment.from_string(text).module
    return module


def rendered(name: str, engine: str, *arguments: Any) -> str:
    return str(getattr(macros(engine), name)(*arguments))


@pytest.mark.parametrize("macro", DISPATCHED)
def test_a_dialect_macro_answers_on_duckdb(macro: str) -> None:
    arguments, expected = QUESTIONS[macro]
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'")
        asked = rendered(macro, "duckdb", *arguments)
        pairs = "(select 'a' as name, 1 as number) as pairs"
        sql = f"select cast(columns(*) as varchar) from (select {asked} from {pairs})"
        answers = [answer for (answer,) in connection.execute(sql).fetchall()]

    assert answers == expected


@pytest.mark.parametrize("rules", ["America/Phoenix", "America/Havana", "Australia/Lord_Howe", "Etc/GMT+9"])
def test_local_times_follow_the_database_that_decides(
    rules: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vancouver has other rules than in DuckDB, which converts in the marts (decision 40)."""
    with other_rules("America/Vancouver", rules, tmp_path):
        others = differences(["America/Vancouver"], date(2025, 1, 1))
        spans = [(str(first), str(end), seconds) for first, end, seconds in others["America/Vancouver"]]
        begin, half = datetime(2025, 1, 1, tzinfo=UTC), timedelta(minutes=30)
        moments = [begin + half * count for count in range(2 * 24 * 366)]
        shown = [at.astimezone(zone("America/Vancouver")).replace(tzinfo=None, fold=0) for at in moments]
    monkeypatch.setitem(CORRECTIONS, "America/Vancouver", spans)
    there = rendered("local_time", "duckdb", "moment", "name")
    back = rendered("instant_at", "duckdb", "local", "name")
    times = pl.DataFrame({"moment": moments, "local": shown, "name": "America/Vancouver"})
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'")
        wrong = connection.execute(f"select * from times where {there} != local").fetchall()
        assert wrong == []
        # A time that the clock shows twice is its first instant.
        wrong = connection.execute(
            f"select *, {back} from times where {back} != (select min(moment) from times as all_times"
            " where all_times.local = times.local)"
        ).fetchall()
        assert wrong == []
        assert times.height == len(moments)


def test_models_hold_no_word_of_one_engine() -> None:
    models = (dbt_project() / "models").rglob("*.sql")
    texts = {path: re.sub(r"--.*", "", path.read_text()).lower() for path in models}

    assert texts
    assert [path for path, text in texts.items() if any(words.search(text) for words in ONE_ENGINE)] == []
