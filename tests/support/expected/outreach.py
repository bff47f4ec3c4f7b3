"""The marts of outreach, read from design §7 once more: how requests ended, and what stopped them."""

from support.daily import outreach
from support.known import Expected, Known


def outreach_outcomes_daily(known: Known) -> Expected:
    found = known.by_day(known.rows("ai_outbound_requests"), "purpose", "channel")
    return {key: outreach(requests, known.now) for key, requests in found.items()}


def outreach_suppressions_daily(known: Known) -> Expected:
    stopped = [row for row in known.rows("ai_outbound_requests") if row["status"] == "suppressed"]
    found = known.by_day(stopped, "purpose", "suppression_reason")
    return {key: (len(requests),) for key, requests in found.items()}
