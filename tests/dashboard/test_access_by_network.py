"""Who may look, asked of a running dashboard over the network as a browser, a proxy and a stranger ask it."""

from pathlib import Path

import httpx
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from support.browsing import serving
from websockets.sync.client import connect

FIGURE = "Callers booked"
HEADERS = {"X-Forwarded-User": "jane"}


def shown(address: str, headers: dict[str, str]) -> str:
    """Return all that a new session is sent until its first run has ended."""
    texts: list[str] = []
    with connect(
        address.replace("http", "ws") + "/_stcore/stream",
        additional_headers=headers,
        subprotocols=["streamlit"],  # pyright: ignore[reportArgumentType] - a name for a type of str
        max_size=None,
    ) as session:
        start = BackMsg()
        start.rerun_script.query_string = ""
        session.send(start.SerializeToString())
        while True:
            message = session.recv(timeout=60)
            assert isinstance(message, bytes)
            received = ForwardMsg.FromString(message)
            texts.append(str(received))
            if received.WhichOneof("type") == "script_finished":
                return "\n".join(texts)


def test_a_header_counts_from_a_named_proxy_alone(published: Path, tmp_path: Path) -> None:
    environment = {
        "VETL_DASHBOARD__USER_HEADER": "X-Forwarded-User",
        "VETL_DASHBOARD__PASSWORD": "long and secret",
    }
    stranger, proxy = tmp_path / "stranger", tmp_path / "proxy"
    stranger.mkdir()
    proxy.mkdir()
    with serving(published, stranger, **environment, VETL_DASHBOARD__PROXIES='["203.0.113.7"]') as running:
        forged = shown(running.address, {**HEADERS, "X-Forwarded-For": "203.0.113.7"})
    with serving(published, proxy, **environment, VETL_DASHBOARD__PROXIES='["127.0.0.1", "::1"]') as running:
        signed_in, unsigned = shown(running.address, HEADERS), shown(running.address, {})

    assert FIGURE in signed_in
    assert FIGURE not in forged
    assert FIGURE not in unsigned
    assert "Password" in forged
    assert "Password" in unsigned


def test_no_address_answers_with_data_without_a_sign_in(published: Path, tmp_path: Path) -> None:
    """Downloads are made in the browser: a session that sees every table is sent no address of a file."""
    with serving(published, tmp_path) as running:
        page = shown(running.address, {})
        answer = httpx.get(f"{running.address}/media/0000.csv")

    assert FIGURE in page
    assert "vetl_download" in page
    assert "/media/" not in page
    assert answer.status_code == 404
