"""Access: users signed in by a proxy or by their own password, users with the one password, or everybody.

If the settings name users, each sees their practices alone, and nobody else sees anything.
"""

import hmac
import time
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import NoReturn

import streamlit as st
from vetl.cli.passwords import is_password_of

from board.attempts import Attempts, address_in, network_of
from board.config import Config

_LOOPBACK = "127.0.0.1"
_attempts = Attempts()


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who may look. `name` is empty without users; `practices` are `None` for all of them."""

    name: str = ""
    practices: tuple[str, ...] | None = None


def visitor(config: Config) -> Visitor | None:
    """Return who looks, or `None` for somebody who may not. `user_header` counts from a named proxy alone."""
    named = _named_by_proxy(config)
    if config.users:
        name = named or _signed_in(config)
        return Visitor(name, config.users[name]) if name is not None and name in config.users else None
    if named:
        return Visitor(named)
    if config.password is None:
        return Visitor() if config.user_header is None else None
    return Visitor() if _signed_in(config) is not None else None


def _named_by_proxy(config: Config) -> str | None:
    if not (config.user_header and _came_through_proxy(config)):
        return None
    names = st.context.headers.get_all(config.user_header)
    return names[0].strip() if len(names) == 1 else None  # two lines: one may be the browser's own


def _signed_in(config: Config) -> str | None:
    """Return the name that signed in with a password in this tab, until the session ends."""
    name, at = st.session_state.get("signed_in", (None, 0.0))
    return name if time.time() - at < config.session_hours * 3600 else None


def ask_to_sign_in(config: Config) -> NoReturn:
    """Show nothing but the sign-in."""
    if _named_by_proxy(config) and config.users:
        st.error("No practice is assigned to you: whoever runs this dashboard can add you.")
    elif config.users and config.passwords and config.passwords.exists():
        _ask(config)
    elif config.password is None:
        st.error("Please sign in where your practice does: this page is behind a sign-in of its own.")
    else:
        _ask(config)
    st.stop()


def _ask(config: Config) -> None:
    st.title("vetl")
    name = ""
    with st.form("sign-in", border=False):
        if config.users:
            name = st.text_input("Name", autocomplete="username")
        entered = st.text_input("Password", type="password", autocomplete="current-password")
        sent = st.form_submit_button("Show the dashboard", type="primary")
    if not sent:
        return
    wait = _attempts.wait_for(network_of(_sender(config)))
    if wait is None:
        st.error("Too many passwords were tried from your address. Wait a few seconds and try again.")
        return
    time.sleep(wait)
    if _is_right(config, name, entered):
        st.session_state["signed_in"] = (name, time.time())
        st.rerun()
    st.error("That is not the name with its password." if config.users else "That is not the password.")


def _is_right(config: Config, name: str, entered: str) -> bool:
    if config.users:
        assert config.passwords
        return is_password_of(config.passwords, name, entered) and name in config.users
    return hmac.compare_digest(entered.encode(), (config.password or "").encode())


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
    # Whatever is no address would be a sender of its own each time.
    return (address_in(forwarded[-1].rsplit(",", 1)[-1]) if forwarded else None) or _peer()
