"""Saved views of Explore: addresses by name, in the file of the marks."""

from urllib.parse import parse_qs

import streamlit as st
from vetl.core.errors import LedgerError

from board.address import shown_address
from board.marks import Marks, views_of
from board.view import View
from board.words import plain


def saved_views(view: View) -> None:
    """Draw the views of this user, and the field that saves the shown one."""
    if view.config.marks is None:
        return
    if failure := st.session_state.pop("not_saved", None):
        st.error(f"The view was not saved: {plain(failure)}")
    with st.sidebar.expander("Saved views"):
        for name, address in views_of(view.config.marks, view.user).items():
            shown, gone = st.columns([4, 1], vertical_alignment="center")
            # The usual view has an empty address, which the navigation would not open.
            query = parse_qs(address or "period=28")
            shown.page_link(st.session_state.pages["explore"], label=plain(name), query_params=query)
            about = f"Remove {plain(name)}"
            gone.button(
                ":material/delete:", key=f"drop-{name}", help=about, on_click=_keep, args=(view, name, None)
            )
        st.text_input("Name of this view", key="view_name", max_chars=60)
        st.button("Save this view", on_click=_save, args=(view,))


def _save(view: View) -> None:
    name = " ".join(st.session_state.view_name.split())
    if name:
        _keep(view, name, shown_address())


def _keep(view: View, name: str, address: str | None) -> None:
    if view.config.marks is None:
        return
    try:
        with Marks.open(view.config.marks) as marks:
            marks.save_view(view.user, name, address)
    except LedgerError as error:
        st.session_state.not_saved = str(error)
