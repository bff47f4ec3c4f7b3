"""What the first sync of a list costs on the wire, looks at ids included: nine requests beside its pages.

So a list of 7 pages takes at most 16.
"""

from collections.abc import Callable
from typing import Any

LISTS = ("booking_sessions", "appointments", "ai_outbound", "staff_tasks")


def test_a_first_sync_takes_nine_requests_beside_the_pages_at_most(opened: Callable[..., Any]) -> None:
    practices = opened(practices=1, calls=2_600, days=60)

    result = practices.sync(endpoints=LISTS)

    assert [(item.endpoint, item.state) for item in result.results] == [(name, "certified") for name in LISTS]
    assert all(item.rows > 200 for item in result.results)
    pages = {item.endpoint: -(-item.rows // 100) for item in result.results}
    assert {
        item.endpoint: item.requests for item in result.results if item.requests > pages[item.endpoint] + 9
    } == {}
    assert practices.differences(LISTS) == []
