"""Access: users signed in by the proxy, users with the password, or everybody on this machine."""

import hmac
import time
from threading import Lock
from typing import NoReturn

import streamlit as st

from board.config import Config

_AFTER_A_WRONG_ONE = 1.0
_one_at_a_time = Lock()


def is_admitted(config: Config) -> bool:
    """Return whether this user may see the pages. Requests without the header of `user_header` are refused."""
    if config.user_header:
        return bool(st.context.headers.get(config.user_header))
    return config.password is None or bool(st.session_state.get("admitted"))


def ask_to_sign_in(config: Config) -> NoReturn:
    """Show nothing but the sign-in."""
    if config.user_header or config.password is None:
        st.error("Please sign in where your practice does: this page is behind a sign-in of its own.")
    else:
        _ask(config.password)
    st.stop()


def _ask(password: str) -> None:
    st.title("vetl")
    with st.form("sign-in", border=False):
        given = st.text_input("Password", type="password", autocomplete="current-password")
        sent = st.form_submit_button("Show the dashboard", type="primary")
    if sent:
        if _is_right(given, password):
            st.session_state["admitted"] = True
            st.rerun()
        st.error("That is not the password.")


def _is_right(given: str, password: str) -> bool:
    """Check one attempt at a time in the whole process; a wrong one takes a second, so guessing takes too long."""
    with _one_at_a_time:
        right = hmac.compare_digest(given.encode(), password.encode())
        if not right:
            time.sleep(_AFTER_A_WRONG_ONE)
    return right
