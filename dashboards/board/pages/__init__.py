"""The pages, in the order of the navigation."""

from collections.abc import Callable
from dataclasses import dataclass

from board.freshness import COUNTED_LISTS
from board.pages import (
    acts,
    ahead,
    appointments,
    call_back,
    calls,
    explore,
    forecast,
    funnel,
    health,
    messages,
    outreach,
    overview,
    rows,
    tasks,
)
from board.view import View

Draw = Callable[[View], None]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the dashboard, in parts below each other. Its days end with the `lists` that it counts."""

    title: str
    path: str
    icon: str
    draw: tuple[Draw, ...]
    lists: tuple[str, ...] = COUNTED_LISTS


FOR_MANAGERS = (
    Page("Overview", "overview", ":material/monitoring:", (overview.draw,)),
    Page("Call back", "call-back", ":material/phone_callback:", (call_back.draw, acts.draw)),
    Page("Phones", "phones", ":material/call:", (calls.draw, forecast.draw), ("phone_calls",)),
    Page("Appointments", "appointments", ":material/event:", (ahead.draw, appointments.draw), ("appointments",)),
    Page("Online booking", "online-booking", ":material/filter_alt:", (funnel.draw,), ("booking_sessions",)),
    Page(
        "Outreach and messages",
        "outreach",
        ":material/campaign:",
        (outreach.draw, messages.draw),
        ("ai_outbound",),
    ),
    Page("Tasks", "tasks", ":material/task_alt:", (tasks.draw,), ("staff_tasks",)),
)
FOR_ANALYSTS = (
    Page("Explore", "explore", ":material/query_stats:", (explore.draw,)),
    Page("Rows", "rows", ":material/receipt_long:", (rows.draw,)),
    Page("Data health", "health", ":material/verified:", (health.draw,)),
)
PAGES = (*FOR_MANAGERS, *FOR_ANALYSTS)
