"""The completeness of the numbers: proof, freshness, drift, quarantine, and later changes."""

import polars as pl
import streamlit as st

from board.freshness import NAMED_AT_MOST
from board.parts import draw_chart, part
from board.scope import CHOSEN
from board.view import View
from board.words import named, plain

PROOF = f"""
    select practice_id, endpoint as list, warehouse_count as rows, source_count, comparison,
           timezone(practices.time_zone, certified_through) as certified_through, evidence,
           timezone(practices.time_zone, last_reconcile_at) as last_reconcile, restated_rows, quarantined_rows
    from meta.proof join marts.practices using (practice_id) where {CHOSEN}
    order by practices.name, practice_id, list
"""
NOTHING_MISSING = (
    "No call, session, appointment, outreach request or task is missing: each of these lists was counted at its "
    "source and holds every row that it named."
)
UNCOUNTED = (
    "Clients and patients are read by id, as other lists mention them: the source does not count them, so nothing "
    "proves that each one is here."
)
BY_REFERENCE = ("clients", "patients")
UNKNOWN = f"""
    select mart, field, unknown_value, sum(occurrences)::bigint as rows, count(distinct practice_id) as practices
    from meta.unknown_values where {CHOSEN} group by all order by rows desc, mart, field, unknown_value limit 500
"""
REVISED = f"""
    select practice_id, day, mart, measure, reported, now, now - reported as change
    from meta.report_revisions join marts.practices using (practice_id)
    where {CHOSEN} and reported <> now order by abs(now - reported) desc, day desc limit 500
"""


def draw(view: View) -> None:
    """Draw the page."""
    with part():
        _proof(view)
    with part("Values that the platform does not list"):
        st.caption("They are kept under their own names and counted as they are.")
        table = view.ask(UNKNOWN)
        draw_chart(
            view,
            table,
            None,
            name="unknown-values",
            empty="There is none.",
            alt="Values that the platform's interface does not list",
            defined_by=[("unknown_values", "unknown_value"), ("unknown_values", "occurrences")],
        )
    with part("Numbers that changed after they could have been reported"):
        table = view.named(view.ask(REVISED))
        draw_chart(
            view,
            table,
            None,
            name="revisions",
            empty="None has changed.",
            alt="Numbers of days that are different now from what a report of the next day said",
            defined_by=[("report_revisions", "reported"), ("report_revisions", "now")],
        )


def _proof(view: View) -> None:
    table = view.named(view.ask(PROOF))
    for kind, line in verdicts(table, view):
        {"good": st.success, "note": st.info, "bad": st.warning}[kind](line)
    if len(view.scope.chosen) > 1:
        st.header("Each practice", anchor=False)
        draw_chart(
            view,
            by_practice(table, view),
            None,
            name="freshness",
            alt="Each practice: whether every list is whole, until which day, and what is set aside",
            defined_by=[("proof", "certified_through"), ("proof", "quarantined_rows")],
        )
    st.header("Each list of each practice", anchor=False)
    draw_chart(
        view,
        table,
        None,
        name="proof",
        alt="Each list of each practice: rows, until when it is certain, and by which evidence",
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


def by_practice(table: pl.DataFrame, view: View) -> pl.DataFrame:
    """Return one row for each practice: its verdict, its last whole day, and its rows set aside."""
    rows = []
    for practice in view.scope.chosen:
        own = table.filter(pl.col("practice") == practice.name)
        lists = own.filter(~pl.col("list").is_in(BY_REFERENCE))
        unproven = lists.filter(pl.col("certified_through").is_null()).height
        verdict = "Whole"
        if unproven or lists.is_empty():
            verdict = "Not proven whole yet"
        elif practice.is_behind:
            verdict = f"Behind by {view.words.number((practice.yesterday - practice.last_day).days)} days"
        last_day = None if unproven or lists.is_empty() else practice.last_day
        rows.append((practice.name, verdict, last_day, int(own.get_column("quarantined_rows").sum() or 0)))
    kinds = {"practice": pl.String, "verdict": pl.String, "last_whole_day": pl.Date, "quarantined_rows": pl.Int64}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def verdicts(table: pl.DataFrame, view: View) -> list[tuple[str, str]]:
    """Return sentences about the whole, the worst first: `good`, `note` or `bad`."""
    words = view.words
    practices = by_practice(table, view)
    lists = table.filter(~pl.col("list").is_in(BY_REFERENCE))
    unproven = lists.filter(pl.col("certified_through").is_null())
    quarantined = int(table.get_column("quarantined_rows").sum() or 0)
    behind = [practice for practice in view.scope.chosen if practice.is_behind]
    said: list[tuple[str, str]] = []
    if len(unproven):
        noun = words.count(len(unproven), "list is", "lists are")
        said.append(("bad", f"{noun} not proven whole yet: {_names(unproven)}."))
    if quarantined:
        noun = words.count(quarantined, "row is", "rows are")
        said.append(("bad", f"{noun} set aside, because they could not be read: see `vetl status`."))
    whole = practices.filter(pl.col("verdict") == "Whole").height
    if whole == practices.height:
        said.append(("good", NOTHING_MISSING))
    elif whole:
        noun = words.count(whole, "practice is", "practices are")
        said.append(("note", f"{noun} whole and up to date, of {words.number(practices.height)}."))
    if behind and whole != practices.height and not len(unproven):
        said.append(("note", "Until the day named, nothing is missing of a practice that is behind."))
    said.append(("note", UNCOUNTED))
    said.append(
        ("note", f"Complete until {words.moment(view.scope.complete_until)}, by the clock of each practice.")
    )
    return said


def _names(rows: pl.DataFrame) -> str:
    first = [
        f"{plain(named(row['list']))} of {plain(row['practice'])}"
        for row in rows.head(NAMED_AT_MOST).iter_rows(named=True)
    ]
    return ", ".join(first) + (" and more" if len(rows) > NAMED_AT_MOST else "")
