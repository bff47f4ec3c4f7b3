"""Access to a real `vetl dashboard`, with and without a proxy."""

from pathlib import Path

from playwright.sync_api import Page
from support.dashboard_browser import Visit, serving, signed_in

PASSWORD = "long and secret"
HEADER = "X-Forwarded-User"


def test_sixty_wrong_passwords_do_not_delay_another_sender(visit: Visit, published: Path, tmp_path: Path) -> None:
    """The proxy on this machine is named, so the senders are those of `X-Forwarded-For`."""
    named = {"VETL_DASHBOARD__PASSWORD": PASSWORD, "VETL_DASHBOARD__PROXIES": '["127.0.0.1"]'}
    with (
        serving(published, tmp_path, **named) as running,
        signed_in(running, "X-Forwarded-For: 203.0.113.7") as guessing,
        signed_in(running, "X-Forwarded-For: 198.51.100.1") as honest,
    ):
        guesser, reader = visit("/funnel", at=guessing), visit("/funnel", at=honest)
        for number in range(60):
            give(guesser, f"wrong {number}")
        give(reader, PASSWORD)

        reader.get_by_test_id("stMetric").first.wait_for()
        assert guesser.get_by_test_id("stMetric").count() == 0


def test_a_header_from_an_address_that_is_no_proxy_is_not_believed(
    visit: Visit, published: Path, tmp_path: Path
) -> None:
    named = {
        "VETL_DASHBOARD__PASSWORD": PASSWORD,
        "VETL_DASHBOARD__USER_HEADER": HEADER,
        "VETL_DASHBOARD__PROXIES": '["192.0.2.1"]',
    }
    with serving(published, tmp_path, **named) as running, signed_in(running, f"{HEADER}: jane") as forged:
        page = visit("/funnel", at=forged)

        page.locator("input[type=password]").wait_for()
        assert page.get_by_test_id("stMetric").count() == 0


def give(page: Page, password: str) -> None:
    """Send a password, and do not wait for the answer."""
    field = page.locator("input[type=password]")
    field.fill(password)
    field.press("Enter")
