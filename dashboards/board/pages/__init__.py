"""The pages, in the order of the navigation."""

from collections.abc import Callable
from dataclasses import dataclass

from board.pages import calls, funnel, health, leaks, outreach, overview, tasks
from board.parts import View

DEMAND_CHANNELS = ("call", "session", "outreach", "task")


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the dashboard. `channels` are the choices of its channel filter; without any it has none."""

    title: str
    path: str
    icon: str
    draw: Callable[[View], None]
    channels: tuple[str, ...] = ()


PAGES = (
    Page("Overview", "overview", ":material/monitoring:", overview.draw, ("call", "session")),
    Page("Booking funnel", "funnel", ":material/filter_alt:", funnel.draw),
    Page("Phone calls", "calls", ":material/call:", calls.draw, ("inbound", "outbound")),
    Page("Outreach", "outreach", ":material/campaign:", outreach.draw, ("sms", "voice")),
    Page("Staff tasks", "tasks", ":material/task_alt:", tasks.draw),
    Page("Leaks", "leaks", ":material/phone_callback:", leaks.draw, DEMAND_CHANNELS),
    Page("Data health", "health", ":material/verified:", health.draw),
)
