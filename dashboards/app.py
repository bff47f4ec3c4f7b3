"""The dashboard's entry: Streamlit runs it for `vetl dashboard`."""

from functools import partial

import streamlit as st
from board.access import ask_to_sign_in, is_admitted
from board.config import read_config
from board.pages import PAGES, Page
from board.parts import View
from board.published import MissingError, Published, UnreadableError, now_published
from board.scope import choose, said
from board.style import ICON, STYLE
from board.words import words_for

SECONDS_BETWEEN_LOOKS = 15


def main() -> None:
    """Draw the chosen page for one user, from the published file."""
    st.set_page_config("vetl", ICON, "wide")
    st.html(STYLE)
    config = read_config()
    # This comes before the question for a password: Streamlit forgets the page of the address if no page is named.
    entry = st.navigation(
        [_entry(page) for page in PAGES], position="sidebar" if is_admitted(config) else "hidden"
    )
    if not is_admitted(config):
        ask_to_sign_in(config)
    st.title(entry.title, anchor=False)
    [page] = [page for page in PAGES if page.title == entry.title]
    try:
        file, words = now_published(config.published), words_for(st.context.locale)
        # This is outside of the page: a page's own filters lose the values of the address when another page is
        # opened.
        st.session_state.view = View(file, choose(file, words, page.channels), words)
        entry.run()
    except (UnreadableError, MissingError) as error:
        st.error(str(error))


def _entry(page: Page) -> st.Page:
    return st.Page(
        partial(_draw, page), title=page.title, icon=page.icon, url_path=page.path, default=page is PAGES[0]
    )


def _draw(page: Page) -> None:
    view: View = st.session_state.view
    st.caption(said(view.scope, view.words))
    page.draw(view)
    st.caption(f"Read until {view.words.moment(view.scope.read_until)}, from {view.file.path.name}.")
    _look_for_another(view.file)


@st.fragment(run_every=SECONDS_BETWEEN_LOOKS)
def _look_for_another(shown: Published) -> None:
    """Draw the page again if another file has been published."""
    if now_published(shown.path) != shown:
        st.rerun()


main()
