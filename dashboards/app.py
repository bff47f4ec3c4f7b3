"""The dashboard's entry: Streamlit runs it for `vetl dashboard`."""

from functools import partial

import streamlit as st
from board.access import Visitor, ask_to_sign_in, visitor
from board.address import follow, write
from board.audit import AuditError
from board.config import Config, read_config
from board.freshness import banner
from board.pages import FOR_ANALYSTS, FOR_MANAGERS, PAGES, Page
from board.published import MissingError, Published, UnreadableError, age_in_days, now_published
from board.scope import choose, scope_line
from board.style import ICON, STYLE
from board.view import View
from board.words import plain, words_for
from vetl.core.errors import LedgerError

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
    first = PAGES[0].path
    # Streamlit serves the first page at the root only, so a hidden page has its path and leads there.
    named = st.Page(lambda: None, title=PAGES[0].title, url_path=first, visibility="hidden")
    groups = {"": [*FOR_MANAGERS], "For analysts": [*FOR_ANALYSTS]}
    shown = {title: [entries[page.path] for page in pages] for title, pages in groups.items()}
    shown[""].append(named)
    entry = st.navigation(shown, position="sidebar" if who else "hidden", expanded=True)
    if entry is named:
        st.switch_page(
            entries[first], query_params={name: st.query_params.get_all(name) for name in st.query_params}
        )
    st.session_state.pages = entries
    if who is None:
        ask_to_sign_in(config)
    st.title(entry.title, anchor=False)
    [page] = [page for page in PAGES if page.title == entry.title]
    try:
        file, words = now_published(config.published, who.practices), words_for(st.context.locale)
        address, notes = follow(page.path), st.empty()
        st.session_state.view = View(
            file,
            choose(file, words, page.lists),
            words,
            config,
            who.name,
            for_managers=page in FOR_MANAGERS,
        )
        entry.run()
        address_notes = write(address)
        if address_notes:
            notes.warning("  \n".join(address_notes))
    except (UnreadableError, MissingError, AuditError, LedgerError) as error:
        st.error(str(error))


def _entry(page: Page) -> st.Page:
    is_first = page is PAGES[0]
    path = "root" if is_first else page.path  # its own path is that of the hidden page
    return st.Page(partial(_draw, page), title=page.title, icon=page.icon, url_path=path, default=is_first)


def _draw(page: Page) -> None:
    view: View = st.session_state.view
    st.caption(scope_line(view.scope, view.words))
    _warn(view)
    for draw in page.draw:
        draw(view)
    complete_until = view.scope.complete_until
    since = f"Complete until {view.words.moment(complete_until)}, from" if complete_until else "Read from"
    st.caption(f"{since} {plain(view.file.path.name)}.")
    _look_for_another(view.file, view.config, Visitor(view.user, view.file.practices))


def _warn(view: View) -> None:
    """Say that the data is made up, who is behind, and that the file itself is old."""
    if view.config.is_made_up:
        st.info("**Made-up practices**, calls and people: nothing here is real.", icon=":material/science:")
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
def _look_for_another(file: Published, config: Config, who: Visitor) -> None:
    """Draw the page again if another file has been published, or if the session has ended."""
    if now_published(file.path, file.practices) != file or visitor(config) != who:
        st.rerun()


main()
