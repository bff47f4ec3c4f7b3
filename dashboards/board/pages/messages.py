"""Messages and reminders, as webhooks bring them: deliveries, failures, and reminders that lead to a visit."""

import streamlit as st

from board import charts
from board.behind import Behind
from board.figures import compared, figures
from board.parts import draw_by_value, draw_chart, part
from board.scope import IN_PERIOD, WHOLE_WEEKS
from board.view import View
from board.words import label

MESSAGES = f"""
    select count(*) as messages, count(*) filter (where is_sent) as sent,
           count(*) filter (where is_delivered) as delivered, count(*) filter (where is_read) as read,
           count(*) filter (where is_failed) as failed
    from marts.messages where {IN_PERIOD}
"""
REASONS = f"""
    select coalesce(status_reason, error_code, status) as reason, count(*) as messages
    from marts.messages where {IN_PERIOD} and not is_delivered and not is_read and status <> 'sent'
    group by reason order by messages desc, reason
"""
WEEKS = f"""
    select date_trunc('week', day)::date as week, count(*) filter (where is_sent) as sent,
           count(*) filter (where is_delivered) as delivered, count(*) filter (where is_failed) as failed
    from marts.messages where {WHOLE_WEEKS} group by week order by week
"""
REMINDERS = f"""
    select count(*) as reminders, count(*) filter (where is_followed) as followed,
           median(hours_to_appointment) as hours
    from marts.service_reminders where {IN_PERIOD}
"""
RULES = f"""
    select status, count(*) as reminders, count(*) filter (where is_followed) as followed,
           count(*) filter (where is_followed) / count(*) as followed_share
    from marts.service_reminders where {IN_PERIOD} group by status order by reminders desc, status
"""
NONE = "None in this period. Messages and reminders come by webhooks, which whoever runs vetl turns on."


def draw(view: View) -> None:
    """Draw the page."""
    with part("Messages"):
        _messages(view)
    with part("Reminders"):
        _reminders(view)


def _messages(view: View) -> None:
    sums = compared(view, "messages", MESSAGES)
    if not sums.all["messages"]:
        st.info(NONE)
        return
    figures(
        view,
        [
            sums.count("Messages", "messages", "asked for", by="message_id"),
            sums.share("Delivered", "delivered", "sent", "sent", by="is_delivered"),
            sums.share("Read", "read", "delivered", "delivered", by="is_read"),
            sums.share("Failed", "failed", "sent", "sent", better="less", by="is_failed"),
        ],
    )
    with part("Why messages did not arrive"):
        draw_by_value(
            view,
            view.ask(REASONS),
            "reason",
            "messages",
            name="messages-not-delivered",
            alt="Messages that did not arrive, by reason",
            defined_by=[("messages", "status_reason"), ("messages", "status")],
            behind=Behind(
                "marts.messages",
                f"{IN_PERIOD} and not is_delivered and not is_read and status <> 'sent'",
                {"reason": "coalesce(status_reason, error_code, status)"},
            ),
            empty="Every message arrived.",
        )
    with part("Messages, week by week"):
        table = view.ask(WEEKS)
        long = charts.by_measure(table, "week", ["sent", "delivered", "failed"], "messages were", "messages")
        draw_chart(
            view,
            table,
            charts.over_time(long, "week", "messages", "messages were"),
            name="messages-weeks",
            alt="Messages by week: sent, delivered and failed ones",
            defined_by=[("messages", "is_sent"), ("messages", "is_delivered"), ("messages", "is_failed")],
            behind=Behind(
                "marts.messages",
                WHOLE_WEEKS,
                {"week": "date_trunc('week', day)::date"},
                step="messages were",
                steps={label(name): f"is_{name}" for name in ("sent", "delivered", "failed")},
            ),
            weekly=True,
        )


def _reminders(view: View) -> None:
    sums = compared(view, "service_reminders", REMINDERS)
    if not sums.all["reminders"]:
        st.info(NONE)
        return
    figures(
        view,
        [
            sums.count("Reminders", "reminders", "received", by="reminder_group_id"),
            sums.share("Led to an appointment", "followed", "reminders", "reminders", by="is_followed"),
            sums.count(
                "Half of those within",
                "hours",
                "of reminders",
                better="less",
                by="hours_to_appointment",
                is_hours=True,
            ),
        ],
    )
    draw_by_value(
        view,
        view.ask(RULES),
        "status",
        "reminders",
        name="reminders-by-status",
        alt="Reminders by status, and how many led to an appointment",
        defined_by=[("service_reminders", "status"), ("service_reminders", "is_followed")],
        behind=Behind("marts.service_reminders", IN_PERIOD, {"status": "status"}),
    )
