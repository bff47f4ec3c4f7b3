"""The pages, in the order of the navigation."""

from collections.abc import Callable
from dataclasses import dataclass

from board.freshness import COUNTED_LISTS
from board.pages import (
    acts,
    appointments,
    call_back,
    calls,
    forecast,
    funnel,
    health,
    measures,
    messages,
    outreach,
    overview,
    rows,
    tasks,
)
from board.parts import View


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the dashboard. Its days end with the `lists` that it counts, unless it has days of its own."""

    title: str
    path: str
    icon: str
    draw: Callable[[View], None]
    lists: tuple[str, ...] = COUNTED_LISTS
    has_period: bool = True


PAGES = (
    Page("Overview", "overview", ":material/monitoring:", overview.draw),
    Page("Booking funnel", "funnel", ":material/filter_alt:", funnel.draw, ("booking_sessions",)),
    Page("Phone calls", "calls", ":material/call:", calls.draw, ("phone_calls",)),
    Page("Next week", "forecast", ":material/event_upcoming:", forecast.draw, ("phone_calls",), has_period=False),
    Page("Appointments", "appointments", ":material/event:", appointments.draw, ("appointments",)),
    Page("Outreach", "outreach", ":material/campaign:", outreach.draw, ("ai_outbound",)),
    Page("Messages", "messages", ":material/sms:", messages.draw, ()),
    Page("Staff tasks", "tasks", ":material/task_alt:", tasks.draw, ("staff_tasks",)),
    Page("Call back", "call_back", ":material/phone_callback:", call_back.draw),
    Page("Acting", "acting", ":material/assignment_ind:", acts.draw),
    Page("Any measure", "measures", ":material/query_stats:", measures.draw),
    Page("Rows behind a figure", "rows", ":material/receipt_long:", rows.draw),
    Page("Data health", "health", ":material/verified:", health.draw),
)
