"""The marts of outreach, implemented a second time from design §7: the ends of requests, suppressions."""

from support.daily import outreach
from support.mart_inputs import Expected, Known


def outreach_outcomes_daily(source: Known) -> Expected:
    days = source.by_day(source.rows("ai_outbound_requests"), "purpose", "channel")
    return {key: outreach(requests, source.now) for key, requests in days.items()}


def outreach_suppressions_daily(source: Known) -> Expected:
    stopped = [row for row in source.rows("ai_outbound_requests") if row["status"] == "suppressed"]
    days = source.by_day(stopped, "purpose", "suppression_reason")
    return {key: (len(requests),) for key, requests in days.items()}
