"""Staff tasks: how many come, how long they take, how old the open tasks are."""

from board import charts
from board.parts import View, by_value, compared, figures, part, shown
from board.scope import IN_PERIOD, WHOLE_WEEKS

MART = "staff_task_turnaround_daily"
TOTALS = f"""
    select count(*) as created, count(*) filter (where status = 'completed') as completed,
           count(*) filter (where status = 'pending') as pending,
           median(hours_to_finalize) filter (where status = 'completed') as hours
    from marts.staff_tasks where {IN_PERIOD}
"""
TYPES = f"""
    select task_type, count(*) as created, count(*) filter (where status = 'completed') as completed,
           count(*) filter (where status = 'canceled') as canceled,
           count(*) filter (where status = 'pending') as pending,
           median(hours_to_finalize) filter (where status = 'completed') as median_hours_to_finalize,
           median(open_hours_to_finalize) filter (where status = 'completed') as median_open_hours_to_finalize
    from marts.staff_tasks where {IN_PERIOD} group by task_type order by created desc, task_type
"""
WEEKS = f"""
    select date_trunc('week', day)::date as week, sum(created)::bigint as created,
           sum(completed)::bigint as completed, sum(canceled)::bigint as canceled, sum(pending)::bigint as pending,
           sum(reopened)::bigint as reopened
    from marts.{MART} where {WHOLE_WEEKS} group by week order by week
"""
WAITING = """
    select case when hours_pending < 24 then 'Under a day' when hours_pending < 72 then '1 to 3 days'
                when hours_pending < 168 then '3 to 7 days' when hours_pending < 720 then '7 to 30 days'
                else 'Over 30 days' end as waiting,
           count(*) as tasks, min(hours_pending) as shortest
    from marts.staff_tasks
    where practice_id in (select unnest($practices)) and status = 'pending'
    group by waiting order by shortest
"""


def draw(view: View) -> None:
    """Draw the page."""
    with part():
        _totals(view)
    with part("What waits now, by age"):
        table = view.ask(WAITING).drop("shortest")
        shown(
            *(view, table, charts.bars(table, "tasks", "waiting")),
            name="tasks-waiting",
            says="Tasks that wait now, by how long they have waited, whenever they were created",
            defined_by=[("staff_tasks", "hours_pending"), (MART, "pending")],
        )
    with part("How long they take, by type"):
        by_value(
            *(view, view.ask(TYPES), "task_type", "median_hours_to_finalize"),
            name="tasks-by-type",
            says="Median hours from the creation of a task to its completion, by type",
            defined_by=[
                *((MART, name) for name in ("created", "completed", "canceled", "pending")),
                *((MART, name) for name in ("median_hours_to_finalize", "median_open_hours_to_finalize")),
            ],
        )
    with part("Week by week"):
        table = view.ask(WEEKS)
        long = charts.by_measure(table, "week", ["created", "completed", "pending"], "state", "tasks")
        shown(
            *(view, table, charts.over_time(long, "week", "tasks", "state")),
            name="tasks-weeks",
            says="Tasks by the week of their creation: all, completed ones, those that still wait",
            defined_by=[(MART, name) for name in ("created", "completed", "canceled", "pending", "reopened")],
        )


def _totals(view: View) -> None:
    sums = compared(view, MART, TOTALS)
    half = "median_hours_to_finalize"
    figures(
        view,
        [
            sums.count("Created", "created", "tasks"),
            sums.share("Completed", "completed", "created", "tasks"),
            sums.share("Still waiting", "pending", "created", "tasks", better="less"),
            sums.count(
                "Half are done within", "hours", "of completed tasks", better="less", by=half, is_hours=True
            ),
        ],
    )
