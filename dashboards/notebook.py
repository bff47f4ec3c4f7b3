"""A start for analysts on the published file: `vetl notebook` copies it, and opens the copy."""

# pyright: basic, reportUnusedExpression=false

import marimo

app = marimo.App(width="medium", app_title="vetl")


@app.cell
def _():
    import os

    import altair as alt
    import duckdb
    import marimo as mo
    import polars as pl

    published = os.environ.get("VETL_WAREHOUSE__PUBLISHED") or "warehouse/data/analytics.duckdb"
    marts = duckdb.connect(published, read_only=True)
    return alt, marts, mo, pl, published


@app.cell
def _(mo, published):
    mo.md(f"""
    # The published file

    `{published}`, open for reading only. Every table is described in `meta.catalogue`; `marts.sql("...").pl()`
    gives a polars frame. A new publication is seen after the first cell has run again.
    """)


@app.cell
def _(marts):
    tables = marts.sql("""
        select table_name, description, example from meta.catalogue where column_name is null order by table_name
    """).pl()
    tables


@app.cell
def _(marts, mo):
    practices = marts.sql("select practice_id, name from marts.practices order by name").fetchall()
    names = [name for _, name in practices]
    entries = {name if names.count(name) == 1 else f"{name} ({number})": number for number, name in practices}
    practice = mo.ui.dropdown(entries, next(iter(entries)), label="Practice")
    practice
    return (practice,)


@app.cell
def _(marts, practice):
    weeks = marts.sql(
        """
        select week, new_booking_callers, booked_within_7_days, sessions, completed, leaks, is_final
        from marts.practice_weekly where practice_id = $practice order by week
        """,
        params={"practice": practice.value},
    ).pl()
    weeks
    return (weeks,)


@app.cell
def _(mo, pl, practice, published):
    from pathlib import Path

    from vetl.figures.ask import MetricQuestion, ask

    # As `vetl metric`: a rate of a week is that of its sums, and comes with its counts and its certificate.
    answer = ask(
        Path(published),
        MetricQuestion("intent_conversion_rate", by=("week",)),
        practices=[practice.value],
    )
    mo.vstack(
        [
            mo.md(f"**{answer.metric.words}**: {answer.metric.definition}"),
            pl.DataFrame(answer.rows, schema=list(answer.columns), orient="row"),
            mo.md("  \n".join((*answer.notes, *answer.doubts))),
        ]
    )


@app.cell
def _(mo):
    from vetl.figures.catalogue import worked_questions

    questions = {one.title: one.statement for one in worked_questions()}
    question = mo.ui.dropdown(questions, next(iter(questions)), label="A worked question, with its SQL")
    question
    return (question,)


@app.cell
def _(marts, mo, question):
    mo.vstack([mo.md(f"```sql\n{question.value}```"), marts.sql(question.value).pl()])


@app.cell
def _(alt, weeks):
    alt.Chart(weeks, title="Booking requests that were not booked, by week").mark_line(point=True).encode(
        x="week:T", y="leaks:Q", tooltip=["week", "leaks", "is_final"]
    )


if __name__ == "__main__":
    app.run()
