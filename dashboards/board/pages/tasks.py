"""Staff tasks: the backlog first, then how long tasks take and how many come."""

import streamlit as st

from board import charts
from board.behind import Behind
from board.figures import compared, figures
from board.parts import draw_by_value, draw_chart, part
from board.scope import CHOSEN, IN_PERIOD, WHOLE_WEEKS
from board.view import View
from board.words import label

MART = "staff_task_turnaround_daily"
BACKLOG = f"""
    select practice_id, count(*) as pending, count(*) filter (where hours_pending >= 7 * 24) as over_a_week,
           median(hours_pending) / 24 as median_days_pending,
           quantile_cont(hours_pending, 0.9) / 24 as p90_days_pending
    from marts.staff_tasks where {CHOSEN} and status = 'pending'
    group by practice_id order by pending desc, practice_id
"""
TOTALS = f"""
    select count(*) as created, count(*) filter (where status = 'completed') as completed,
           median(hours_to_finalize) filter (where status = 'completed') as hours,
           quantile_cont(hours_to_finalize, 0.9) filter (where status = 'completed') as slow_hours
    from marts.staff_tasks where {IN_PERIOD}
"""
TYPES = f"""
    select task_type, count(*) as created, count(*) filter (where status = 'completed') as completed,
           count(*) filter (where status = 'canceled') as canceled,
           count(*) filter (where status = 'pending') as pending,
           median(hours_to_finalize) filter (where status = 'completed') as median_hours_to_finalize,
           quantile_cont(hours_to_finalize, 0.9) filter (where status = 'completed') as p90_hours_to_finalize,
           median(open_hours_to_finalize) filter (where status = 'completed') as median_open_hours_to_finalize
    from marts.staff_tasks where {IN_PERIOD} group by task_type order by created desc, task_type
"""
PRACTICES = f"""
    select practice_id, count(*) as created, count(*) filter (where status = 'completed') as completed,
           median(hours_to_finalize) filter (where status = 'completed') as median_hours_to_finalize,
           quantile_cont(hours_to_finalize, 0.9) filter (where status = 'completed') as p90_hours_to_finalize
    from marts.staff_tasks where {IN_PERIOD} group by practice_id order by p90_hours_to_finalize desc nulls last
"""
WEEKS = f"""
    select date_trunc('week', day)::date as week, sum(created)::bigint as created,
           sum(completed)::bigint as completed, sum(canceled)::bigint as canceled, sum(pending)::bigint as pending,
           sum(reopened)::bigint as reopened
    from marts.{MART} where {WHOLE_WEEKS} group by week order by week
"""
AGES = """
    case when hours_pending < 24 then 'Under a day' when hours_pending < 72 then '1 to 3 days'
         when hours_pending < 168 then '3 to 7 days' when hours_pending < 720 then '7 to 30 days'
         else 'Over 30 days' end
"""
WAITING = f"""
    select {AGES} as waiting,
           count(*) as tasks, min(hours_pending) as shortest
    from marts.staff_tasks where {CHOSEN} and status = 'pending'
    group by waiting order by shortest
"""


def draw(view: View) -> None:
    """Draw the page."""
    with part("What waits now"):
        _backlog(view)
    with part("Created in the period"):
        _totals(view)
    with part("How long they take, by type"):
        draw_by_value(
            view,
            view.ask(TYPES),
            "task_type",
            "median_hours_to_finalize",
            name="tasks-by-type",
            alt="Median hours from the creation of a task to its completion, by type",
            defined_by=[
                *((MART, name) for name in ("created", "completed", "canceled", "pending")),
                *((MART, name) for name in ("median_hours_to_finalize", "median_open_hours_to_finalize")),
            ],
            behind=Behind(
                "marts.staff_tasks", f"{IN_PERIOD} and status = 'completed'", {"task_type": "task_type"}
            ),
        )
    if len(view.scope.practices) > 1:
        with part("How long they take, by practice"):
            table = view.named(view.ask(PRACTICES))
            draw_chart(
                view,
                table,
                charts.bars(view.short(table), "p90_hours_to_finalize", "practice"),
                name="tasks-by-practice",
                alt="Hours within which nine of ten completed tasks were done, by practice, the slowest first",
                defined_by=[(MART, "median_hours_to_finalize"), (MART, "completed")],
                behind=Behind(
                    "marts.staff_tasks", f"{IN_PERIOD} and status = 'completed'", {"practice": "practice_id"}
                ),
            )
    with part("Week by week"):
        table = view.ask(WEEKS)
        long = charts.by_measure(table, "week", ["created", "completed", "pending"], "state", "tasks")
        draw_chart(
            view,
            table,
            charts.over_time(long, "week", "tasks", "state"),
            name="tasks-weeks",
            alt="Tasks by the week of their creation: all, completed ones, those that still wait",
            defined_by=[(MART, name) for name in ("created", "completed", "canceled", "pending", "reopened")],
            behind=Behind(
                "marts.staff_tasks",
                WHOLE_WEEKS,
                {"week": "date_trunc('week', day)::date"},
                step="state",
                steps={
                    label("created"): "true",
                    **{label(name): f"status = '{name}'" for name in ("completed", "pending")},
                },
            ),
            weekly=True,
        )


def _backlog(view: View) -> None:
    words, table = view.words, view.named(view.ask(BACKLOG))
    waiting = int(table.get_column("pending").sum())
    old = int(table.get_column("over_a_week").sum())
    if waiting:
        st.markdown(
            f"**{words.count(waiting, 'task waits', 'tasks wait')}** now, whenever created; {words.number(old)} "
            "of them for over a week."
        )
    ages = view.ask(WAITING).drop("shortest")
    draw_chart(
        view,
        ages,
        charts.bars(ages, "tasks", "waiting"),
        name="tasks-waiting",
        alt="Tasks that wait now, by how long they have waited, whenever they were created",
        defined_by=[("staff_tasks", "hours_pending"), (MART, "pending")],
        behind=Behind("marts.staff_tasks", f"{CHOSEN} and status = 'pending'", {"waiting": AGES}),
        empty="No task waits.",
    )
    if len(view.scope.chosen) > 1 and waiting:
        with part("What waits, by practice"):
            draw_chart(
                view,
                table,
                charts.bars(view.short(table), "pending", "practice"),
                name="tasks-waiting-by-practice",
                alt="Tasks that wait now by practice: how many, and for how many days",
                defined_by=[("staff_tasks", "hours_pending"), (MART, "pending")],
                behind=Behind(
                    "marts.staff_tasks", f"{CHOSEN} and status = 'pending'", {"practice": "practice_id"}
                ),
            )


def _totals(view: View) -> None:
    sums = compared(view, MART, TOTALS)
    half = "median_hours_to_finalize"
    done = "of completed tasks"
    figures(
        view,
        [
            sums.count("Tasks", "created", "created"),
            sums.share("Completed so far", "completed", "created", "tasks"),
            sums.count("Half are done within", "hours", done, better="less", by=half, is_hours=True),
            sums.count("Nine of ten within", "slow_hours", done, better="less", by=half, is_hours=True),
        ],
    )
