"""Access: users signed in by a proxy, users with the password, or everybody if the settings name neither."""

import hmac
import time
from ipaddress import ip_address, ip_network
from typing import NoReturn

import streamlit as st

from board.attempts import Attempts, network_of
from board.config import Config

_LOOPBACK = "127.0.0.1"
_attempts = Attempts()


def is_admitted(config: Config) -> bool:
    """Return whether this visitor may look. The header of `user_header` counts from a named proxy alone."""
    if config.user_header and _came_through_proxy(config) and st.context.headers.get(config.user_header):
        return True
    if config.password is None:
        return config.user_header is None
    return bool(st.session_state.get("admitted"))


def ask_to_sign_in(config: Config) -> NoReturn:
    """Show nothing but the sign-in."""
    if config.password is None:
        st.error("Please sign in where your practice does: this page is behind a sign-in of its own.")
    else:
        _ask(config, config.password)
    st.stop()


def _ask(config: Config, password: str) -> None:
    st.title("vetl")
    with st.form("sign-in", border=False):
        given = st.text_input("Password", type="password", autocomplete="current-password")
        sent = st.form_submit_button("Show the dashboard", type="primary")
    if not sent:
        return
    wait = _attempts.wait_for(network_of(_sender(config)))
    if wait is None:
        st.error("Too many passwords were tried from your address. Wait a few seconds and try again.")
        return
    time.sleep(wait)
    if hmac.compare_digest(given.encode(), password.encode()):
        st.session_state["admitted"] = True
        st.rerun()
    st.error("That is not the password.")


def _peer() -> str:
    """Return the other end of the connection; Streamlit leaves out the addresses of this machine."""
    address = st.context.ip_address
    return address if isinstance(address, str) else _LOOPBACK  # Streamlit's own test client has no address


def _came_through_proxy(config: Config) -> bool:
    peer = ip_address(_peer())
    peer = getattr(peer, "ipv4_mapped", None) or peer
    return any(peer in ip_network(proxy) for proxy in config.proxies)


def _sender(config: Config) -> str:
    """Return the address that the visitor comes from: a proxy adds the last one of `X-Forwarded-For`."""
    forwarded = st.context.headers.get_all("X-Forwarded-For") if _came_through_proxy(config) else []
    return forwarded[-1].rsplit(",", 1)[-1].strip() if forwarded else _peer()
