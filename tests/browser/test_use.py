"""The dashboard in use: the reader's language, a publish while it is open, who may see it."""

from pathlib import Path

import duckdb
from playwright.sync_api import expect
from support.dashboard_browser import Visit, drawn, figures, serving, signed_in


def test_a_publish_is_seen_while_the_page_is_open(visit: Visit, published: Path, tmp_path: Path) -> None:
    """Nobody touches the page: a quarter of a minute later, by the browser's clock, it shows the new file."""
    with serving(published, tmp_path) as running:
        page = drawn(visit("/funnel", at=running))
        assert figures(page)[0] != "0"
        draft = tmp_path / "draft.duckdb"
        draft.write_bytes(running.file.read_bytes())
        with duckdb.connect(draft) as connection:
            connection.execute("delete from marts.booking_funnel_daily")
        draft.replace(running.file)
        page.clock.fast_forward("00:20")

        expect(page.get_by_test_id("stMetricValue").first).to_have_text("0")


def test_who_came_through_the_proxy_sees_it(visit: Visit, published: Path, tmp_path: Path) -> None:
    with serving(published, tmp_path, VETL_DASHBOARD__USER_HEADER="X-Forwarded-User") as running:
        with signed_in(running, "X-Forwarded-User: jane") as proxy:
            assert figures(drawn(visit("/funnel", at=proxy)))
        past = visit("/funnel", at=running)
        past.get_by_text("Please sign in").wait_for()

        assert past.get_by_test_id("stMetric").count() == 0
