"""The clients to call back: a work list, and the booking requests that are not on it, with the reason."""

from pathlib import Path

import polars as pl
import streamlit as st
from vetl.core.errors import LedgerError

from board.address import pick, pick_number
from board.audit import note_people
from board.behind import Behind
from board.marks import LATEST, MARKS, Marks, parameters_of
from board.parts import draw_by_value, draw_definitions, draw_list, part
from board.scope import CHOSEN
from board.view import View
from board.words import named, plain

MOST = 1000
"""Rows of the list that are shown and downloaded; the most urgent rows come first."""

ENDED = {"all": "Declined and settled too"}
OPEN = "($ended = 'all' or reason is null or reason not in ('declined', 'resolved'))"
"""Whoever declined, or whose call settled it, is on the list of the mart, but nobody has to call them back."""
CONTACTS = ("call", "online", "outreach", "task")
WITHIN = f"{CHOSEN} and ($contact is null or channel = $contact)"
MARKED = {"all": "Done and not needed too"}
UNMARKED = "($marked_too = 'all' or mark is null or mark = 'no_answer' or marked_at < listed.last_at)"
"""A mark holds until the client tries again."""
NEXT = 3
"""So many people are shown with their buttons."""
CHOICES = f"select distinct wanted from marts.call_back_list where {CHOSEN} and wanted is not null order by wanted"
WHO = {
    True: (
        "known.name, coalesce(known.phone_number, listed.phone_number) as phone_number, known.pet, client_id",
        "left join contacts.call_back_list as known using (practice_id, episode_id)",
    ),
    False: ("listed.phone_number, null as pet, client_id", ""),
}
"""The columns that identify a client, with and without names, and their table."""
LIST = """
    select listed.practice_id, listed.urgency, listed.episode_id, {who}, listed.wanted,
           timezone(practices.time_zone, listed.last_at) as last_tried, listed.contacts as times_tried,
           round(listed.age_hours / 24, 1) as age_days,
           listed.channel, listed.reason, listed.last_contact_id, unanswered, mark
    from marts.call_back_list as listed join marts.practices using (practice_id) {known}
         left join {latest} as marked using (practice_id, episode_id)
    where {within} and {open} and {unmarked} and ($wanted is null or wanted = $wanted) and contacts >= $tries
    order by mark is not distinct from 'no_answer' and marked_at >= listed.last_at, listed.urgency,
             listed.last_at desc, practices.name
    limit {most}
"""
COUNT = f"""
    select count(*) as people from marts.call_back_list as listed
         left join {LATEST} as marked using (practice_id, episode_id)
    where {WITHIN} and {OPEN} and {UNMARKED} and ($wanted is null or wanted = $wanted) and contacts >= $tries
"""
NOT_ON_IT = f"""
    select not_actionable_because, count(*) as booking_requests
    from marts.unbooked_requests join marts.practices using (practice_id)
    where {WITHIN} and not is_actionable and begun_by = 'client'
          and timezone(practices.time_zone, first_at)::date between $since and $until
    group by not_actionable_because order by booking_requests desc, not_actionable_because
"""


def draw(view: View) -> None:
    """Draw the page."""
    contact = pick(
        "contact", "Last contact by", {name: named(name) for name in CONTACTS}, empty="Any way", width=260
    )
    with part():
        _work_list(view, contact)
    with part("Not on the list"):
        st.caption(
            f"Booking requests of {view.words.days(view.scope.since, view.scope.until)} that were not booked, and "
            "that nobody can or should call back about, by the first reason."
        )
        draw_by_value(
            view,
            view.ask(NOT_ON_IT, {"contact": contact}),
            "not_actionable_because",
            "booking_requests",
            name="not-on-the-list",
            alt="Booking requests not booked that are not on the call-back list, by reason",
            defined_by=[("unbooked_requests", "is_actionable"), ("unbooked_requests", "not_actionable_because")],
            behind=Behind(
                "marts.unbooked_requests",
                f"""{WITHIN} and not is_actionable and begun_by = 'client' and (
                        select timezone(time_zone, first_at)::date from marts.practices
                        where practices.practice_id = unbooked_requests.practice_id
                    ) between $since and $until""",
                {"not_actionable_because": "not_actionable_because"},
                {"contact": contact},
            ),
        )


def people_to_call(view: View) -> int:
    """Return how many people the page shows first: the same number stands on Overview."""
    asked = dict.fromkeys(("contact", "wanted", "ended", "marked_too"))
    return int(view.ask(COUNT, {**asked, "tries": 1, **parameters_of(view.config.marks)}).item())


def _work_list(view: View, contact: str | None) -> None:
    offered = view.ask(CHOICES).get_column("wanted").to_list()
    with st.container(horizontal=True, key="wanted-filters"):
        wanted = pick("wanted", "Wanted", {name: named(name) for name in offered}, empty="Anything")
        tries = pick_number("tries", "Tried at least", 1, 99)
        ended = pick("ended", "Last contact ended", ENDED, empty="Still open")
        marked_too = pick("marked", "Marked", MARKED, empty="Not yet")
    chosen = {"contact": contact, "wanted": wanted, "tries": tries, "ended": ended, "marked_too": marked_too}
    asked = {**chosen, **parameters_of(view.config.marks)}
    people = view.ask(COUNT, asked).item()
    who, contacts = WHO[view.file.names_people]
    parts = {"within": WITHIN, "open": OPEN, "unmarked": UNMARKED, "latest": LATEST}
    people_shown = view.ask(LIST.format(who=who, known=contacts, most=MOST, **parts), asked)
    note_people(view.config.audit, view.user, "call-back", people_shown, named=view.file.names_people)
    table = view.named(people_shown.drop("episode_id"))
    nobody = [name for name in ("unanswered", "mark") if table.get_column(name).is_null().all()]
    table = table.drop(nobody)
    first = [name for name in ("name", "phone_number", "wanted", "pet", "last_tried") if name in table.columns]
    table = table.select(*first, pl.exclude(*first))
    table = table.drop(name for name in ("phone_number", "pet") if table.get_column(name).is_null().all())
    words = view.words
    if table.is_empty():
        st.info("Nobody is to be called back: whoever could be called was booked or followed up.")
        return
    st.markdown(f"**{words.number(people)} to call back**, the most urgent first, whatever the period.")
    if people > len(table):
        st.caption(f"The first {words.number(len(table))} are shown: choose a practice, or what was wanted.")
    if view.config.marks:
        if failure := st.session_state.pop("not_marked", None):
            st.error(f"The mark was not kept: {plain(failure)}")
        _next_up(view, people_shown)
    draw_list(table, "People to call back, the most urgent first", "call-back-list")
    if not {"name", "phone_number"} & set(table.columns):
        st.caption("This file names nobody: look the client id up in the practice's own system.")
    with st.expander("What it counts"):
        draw_definitions(view, [("call_back_list", name) for name in ("urgency", "reason", "age_hours", "wanted")])


def _next_up(view: View, people: pl.DataFrame) -> None:
    """Draw the next people to ring, each with a number to dial and buttons for how the call ended."""
    practices = {practice.id: practice.name for practice in view.scope.chosen}
    for one in people.head(NEXT).iter_rows(named=True):
        key = (one["practice_id"], one["episode_id"])
        number = one["phone_number"] if str(one["phone_number"]).startswith("+") else None
        dial = f"[{plain(number)}](tel:{number})" if number else None
        who = one.get("name") or f"Client {one['client_id']}" if one["client_id"] else "Unknown client"
        last = f"last tried {view.words.moment(one['last_tried'])}"
        details = [dial, plain(practices[one["practice_id"]]), named(one["wanted"]), plain(one["pet"] or ""), last]
        with st.container(horizontal=True, vertical_alignment="center", border=True, key=f"next-{'-'.join(key)}"):
            st.markdown(f"**{plain(who)}**  \n{' · '.join(text for text in details if text)}")
            with st.container(horizontal=True, width="content", key=f"marks-{'-'.join(key)}"):
                for mark, title in MARKS.items():
                    st.button(title, key=f"{mark}-{'-'.join(key)}", on_click=_mark, args=(view, *key, mark))


def _mark(view: View, practice_id: str, episode_id: str, mark: str) -> None:
    try:
        with Marks.open(view.config.marks or Path()) as marks:
            marks.add(practice_id, episode_id, mark, view.user)
    except LedgerError as error:
        st.session_state.not_marked = str(error)
