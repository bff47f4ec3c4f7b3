"""Access to a real `vetl dashboard`, with and without a proxy."""

from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import duckdb
from playwright.sync_api import Page
from support.dashboard_browser import Visit, drawn, figures, serving, signed_in

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
        guesser, reader = visit("/online-booking", at=guessing), visit("/online-booking", at=honest)
        for number in range(60):
            give(guesser, f"wrong {number}")
        give(reader, PASSWORD)

        reader.get_by_test_id("stMetric").first.wait_for()
        assert guesser.get_by_test_id("stMetric").count() == 0


def test_a_header_from_no_proxy_is_not_believed(visit: Visit, published: Path, tmp_path: Path) -> None:
    named = {
        "VETL_DASHBOARD__PASSWORD": PASSWORD,
        "VETL_DASHBOARD__USER_HEADER": HEADER,
        "VETL_DASHBOARD__PROXIES": '["192.0.2.1"]',
    }
    with serving(published, tmp_path, **named) as running, signed_in(running, f"{HEADER}: jane") as forged:
        page = visit("/online-booking", at=forged)

        page.locator("input[type=password]").wait_for()
        assert page.get_by_test_id("stMetric").count() == 0


def test_who_came_through_the_proxy_sees_it(visit: Visit, published: Path, tmp_path: Path) -> None:
    with serving(published, tmp_path, VETL_DASHBOARD__USER_HEADER=HEADER) as running:
        with signed_in(running, f"{HEADER}: jane") as proxy:
            assert figures(drawn(visit("/online-booking", at=proxy)))
        past = visit("/online-booking", at=running)
        past.get_by_text("Please sign in").wait_for()

        assert past.get_by_test_id("stMetric").count() == 0


def test_no_address_of_a_download_or_of_a_picture_answers_without_a_sign_in(
    visit: Visit, published: Path, tmp_path: Path
) -> None:
    """Every address that the browser of a reader requested is requested again without the reader's session."""
    with duckdb.connect(published, read_only=True) as marts:
        listed = "select client_id from marts.call_back_list where reason not in ('declined', 'resolved')"
        people = {str(one) for (one,) in marts.execute(listed).fetchall() if one}
    with serving(published, tmp_path, VETL_DASHBOARD__PASSWORD=PASSWORD) as running:
        page = visit("/call-back", at=running)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        give(page, PASSWORD)
        button = drawn(page).get_by_role("button", name="Download CSV").first
        with page.expect_download() as download:
            button.click()
        saved = Path(download.value.path()).read_text("utf-8-sig")
        addresses = {url for url in asked if url.startswith(running.address)}
        answers = {url: unsigned(url) for url in (*addresses, running.address, f"{running.address}/media/")}
        with urlopen(running.address) as answer:
            policy = answer.headers["Content-Security-Policy"]

    assert "frame-ancestors 'self'; img-src 'self'" in policy
    assert people
    assert all(one in saved for one in people)
    assert download.value.url.startswith("blob:")
    assert not [url for url in addresses if url.startswith(f"{running.address}/media/")]
    assert [url for url, text in answers.items() if any(one in text for one in people)] == []


def unsigned(url: str) -> str:
    """Return the answer to a request without cookies; nothing if it is refused."""
    try:
        with urlopen(url) as answer:
            return answer.read().decode(errors="replace")
    except HTTPError:
        return ""


def give(page: Page, password: str) -> None:
    """Send a password, and do not wait for the answer."""
    field = page.locator("input[type=password]")
    field.fill(password)
    field.press("Enter")
