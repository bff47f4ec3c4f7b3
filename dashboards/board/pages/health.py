"""The completeness of the numbers: proof, freshness, drift, quarantine, and later changes."""

import polars as pl
import streamlit as st

from board.charts import worded
from board.parts import View, part, shown
from board.words import named

HERE = "practice_id in (select unnest($practices))"
PROOF = f"""
    select practices.name as practice, endpoint as list, warehouse_count as rows, source_count, comparison,
           timezone(practices.time_zone, certified_through) as certified_through, evidence,
           timezone(practices.time_zone, last_reconcile_at) as last_reconcile, restated_rows, quarantined_rows,
           date_diff('hour', certified_through, practices.as_of) as hours_behind
    from marts.proof join marts.practices using (practice_id) where {HERE}
    order by practice, list
"""
STALE_HOURS = 48
"""Calls are certified by whole days that are over everywhere: a day and a half behind is normal."""

NAMED_AT_MOST = 3

BY_REFERENCE = ("clients", "patients")
UNKNOWN = f"""
    select mart, field, unknown_value, sum(occurrences)::bigint as rows, count(distinct practice_id) as practices
    from marts.unknown_values where {HERE} group by all order by rows desc, mart, field, unknown_value limit 500
"""
REVISED = f"""
    select practices.name as practice, day, mart, measure, reported, now, now - reported as change
    from marts.report_revisions join marts.practices using (practice_id)
    where {HERE} and reported <> now order by abs(now - reported) desc, day desc limit 500
"""


def draw(view: View) -> None:
    """Draw the page."""
    with part():
        _proof(view)
    with part("Values that the platform does not list"):
        st.caption("They are kept under their own names and counted as they are.")
        table = view.ask(UNKNOWN)
        shown(
            *(view, table, None),
            name="unknown-values",
            empty="There is none.",
            says="Values that the platform's interface does not list",
            defined_by=[("unknown_values", "unknown_value"), ("unknown_values", "occurrences")],
        )
    with part("Numbers that changed after they could have been reported"):
        table = view.ask(REVISED)
        shown(
            *(view, table, None),
            name="revisions",
            empty="None has changed.",
            says="Numbers of days that are different now from what a report of the next day said",
            defined_by=[("report_revisions", "reported"), ("report_revisions", "now")],
        )


def _proof(view: View) -> None:
    table = view.ask(PROOF)
    for kind, line in verdicts(table, view):
        {"good": st.success, "note": st.info, "bad": st.warning}[kind](line)
    st.header("Each list of each practice", anchor=False)
    shown(
        *(view, worded(table, "list"), None),
        name="proof",
        says="Each list of each practice: rows, until when it is certain, and by which evidence",
        defined_by=[
            ("proof", name)
            for name in (
                "source_count",
                "warehouse_count",
                "comparison",
                "certified_through",
                "evidence",
                "quarantined_rows",
            )
        ],
    )


def verdicts(table: pl.DataFrame, view: View) -> list[tuple[str, str]]:
    """Return sentences about the whole, the worst first: `good`, `note` or `bad`."""
    words = view.words
    lists = table.filter(~pl.col("list").is_in(BY_REFERENCE))
    unproven = lists.filter(pl.col("certified_through").is_null())
    late = lists.filter(pl.col("hours_behind") > STALE_HOURS)
    quarantined = int(table.get_column("quarantined_rows").sum() or 0)
    said: list[tuple[str, str]] = []
    if len(unproven):
        said.append(("bad", f"{words.number(len(unproven))} lists are not proven whole yet: {_names(unproven)}."))
    if len(late):
        said.append(
            ("bad", f"{words.number(len(late))} lists are certain only until over two days ago: {_names(late)}.")
        )
    if quarantined:
        said.append(
            (
                "bad",
                f"{words.number(quarantined)} rows are set aside as they could not be read: see `vetl status`.",
            )
        )
    proven = len(lists) - len(unproven)
    if proven and not len(unproven):
        said.append(
            ("good", "Nothing is missing: each list was counted at its source and holds every row that it named.")
        )
    said.append(("note", f"Read until {words.moment(view.scope.read_until)}, by the clock of each practice."))
    return said


def _names(rows: pl.DataFrame) -> str:
    first = [
        f"{named(row['list'])} of {row['practice']}" for row in rows.head(NAMED_AT_MOST).iter_rows(named=True)
    ]
    return ", ".join(first) + (" and more" if len(rows) > NAMED_AT_MOST else "")
