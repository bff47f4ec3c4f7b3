"""The server of the dashboard: Streamlit's own, with headers that it does not set. `vetl dashboard` runs it."""

import os
import socket
import time
from threading import Thread
from urllib.parse import urlsplit

import streamlit as st
from board.headers import SafeHeaders
from starlette.middleware import Middleware
from streamlit import cli_util

SECONDS = 60
"""How long the server may take to start before nothing is opened."""


def open_when_served(address: str) -> None:
    """Open the browser as soon as the server listens: Streamlit does so for a script, not for an application."""
    place = urlsplit(address)
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            socket.create_connection((place.hostname, place.port or 80), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            cli_util.open_browser(address)
            return


if to_open := os.environ.get("VETL_DASHBOARD__OPEN"):
    Thread(target=open_when_served, args=(to_open,), daemon=True).start()

app = st.App("app.py", middleware=[Middleware(SafeHeaders)])
