"""The dashboard's entry: Streamlit runs it for `vetl dashboard`."""

from functools import partial

import streamlit as st
from board.access import Visitor, ask_to_sign_in, visitor
from board.address import follow, write
from board.audit import AuditError
from board.config import Config, read_config
from board.freshness import banner
from board.pages import PAGES, Page
from board.parts import View
from board.published import MissingError, Published, UnreadableError, age_in_days, now_published
from board.scope import choose, said
from board.style import ICON, STYLE
from board.words import words_for

SECONDS_BETWEEN_LOOKS = 15
OLD_DAYS = 2  # a file that was published so many days ago gets a warning


def main() -> None:
    """Draw the chosen page for one user, from the published file."""
    st.set_page_config("vetl", ICON, "wide")
    st.html(STYLE)
    config = read_config()
    who = visitor(config)
    # This comes before the question for a password: Streamlit forgets the page of the address if no page is named.
    entries = {page.path: _entry(page) for page in PAGES}
    entry = st.navigation(list(entries.values()), position="sidebar" if who else "hidden", expanded=True)
    st.session_state.pages = entries
    if who is None:
        ask_to_sign_in(config)
    st.title(entry.title, anchor=False)
    [page] = [page for page in PAGES if page.title == entry.title]
    try:
        file, words = now_published(config.published, who.practices), words_for(st.context.locale)
        address, notes = follow(page.path), st.empty()
        st.session_state.view = View(
            file, choose(file, words, page.lists), words, config.audit, who.name, config.watch
        )
        entry.run()
        said_of_it = write(address)
        if said_of_it:
            notes.warning("  \n".join(said_of_it))
    except (UnreadableError, MissingError, AuditError) as error:
        st.error(str(error))


def _entry(page: Page) -> st.Page:
    return st.Page(
        partial(_draw, page), title=page.title, icon=page.icon, url_path=page.path, default=page is PAGES[0]
    )


def _draw(page: Page) -> None:
    view: View = st.session_state.view
    st.caption(said(view.scope, view.words, with_days=page.has_period))
    _warn(view)
    page.draw(view)
    complete_until = view.scope.complete_until
    since = f"Complete until {view.words.moment(complete_until)}, from" if complete_until else "Read from"
    st.caption(f"{since} {view.file.path.name}.")
    _look_for_another(view.file, read_config(), Visitor(view.user, view.file.practices))


def _warn(view: View) -> None:
    """Say who is behind, and that the file itself is old."""
    behind = banner(view.scope.chosen, view.scope.practices, view.words)
    if behind:
        st.warning(behind, icon=":material/schedule:")
    age = age_in_days(view.file)
    if age >= OLD_DAYS:
        st.warning(
            f"Nothing was published for {view.words.number(age)} days: these figures are old. `vetl status` gives "
            "the reason.",
            icon=":material/schedule:",
        )


@st.fragment(run_every=SECONDS_BETWEEN_LOOKS)
def _look_for_another(shown: Published, config: Config, who: Visitor) -> None:
    """Draw the page again if another file has been published, or if the session has ended."""
    if now_published(shown.path, shown.practices) != shown or visitor(config) != who:
        st.rerun()


main()
