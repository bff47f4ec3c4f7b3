"""A small model of the five paged lists: the answer to any request, from the contract and the switches alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from typing import Any, Final

from support.contract_values import VALUES
from support.partner_side import Row
from vetl_sandbox.switches import ListSwitches

RANGED: Final = ("booking_sessions", "appointments")
CHOICES: Final[dict[str, dict[str, str]]] = {
    "appointments": {},
    **{name: {"status": VALUES[name]["status"]} for name in ("booking_sessions", "ai_outbound", "staff_tasks")},
    "phone_calls": {
        **{name: VALUES["phone_calls"][name] for name in ("direction", "state", "call_classification")},
        "booking_intent": "true false",
    },
}
"""The filters of each list that take one of a few values."""
Query = Mapping[str, Any]
"""The parameters of a request, under their usual names; `outcome[]` is a list."""


@dataclass(frozen=True)
class ListModel:
    """One list of one practice; `rows` are all its rows, oldest first."""

    name: str
    rows: list[Row]
    zone: tzinfo
    now: datetime
    own: ListSwitches
    refuses_unknown: bool

    def faults(self, query: Query) -> list[str]:
        wrong = {name for name, value in query.items() if not self._takes(name, value)}
        if self.name in RANGED and self.own.start_required and "start_date" not in query:
            wrong.add("start_date")
        return sorted(wrong)

    def page(self, query: Query) -> dict[str, Any]:
        """Return the page of a request without fault."""
        own = self.own
        kept = {name: value for name, value in query.items() if name.removesuffix("_date") not in own.ignored}
        default = min(50 if self.name == "phone_calls" else own.default_size, own.maximum_size)
        size = min(int(kept.get("per_page", default)), own.maximum_size)
        number = int(kept.get("page", own.page_base))
        wanted = sorted(self._wanted(kept), key=self.time, reverse=own.order.endswith("desc"))
        total = len(wanted) if own.told_total is None else own.told_total
        first = (number - own.page_base) * size
        pages = {} if self.name == "booking_sessions" else {"total_pages": -(-total // size)}
        content = wanted[first : first + size]
        return {"page": number, "per_page": size, "total_count": total, **pages, "content": content}

    def time(self, row: Row) -> str:
        return row["updated_at" if self.own.order.startswith("updated") and "updated_at" in row else "created_at"]

    def _takes(self, name: str, value: Any) -> bool:
        own, is_number = self.own, str(value).isdigit()
        if name in ("start_date", "end_date") and self.name in (*RANGED, "phone_calls"):
            only_days = self.name == "phone_calls" or own.instants == "refused"
            return _is_day(value) or (not only_days and "T" in value)
        if name in CHOICES[self.name]:
            free = name == "status" and own.unknown_status != "refuse"
            return free or value in CHOICES[self.name][name].split()
        if name == "page":
            return is_number and int(value) >= own.page_base
        if name == "per_page":
            return is_number and int(value) > 0 and (own.over_large == "clamp" or int(value) <= own.maximum_size)
        return not self.refuses_unknown or (
            self.name == "phone_calls" and name in ("client_id", "outcome", "outcome[]")
        )

    def _wanted(self, query: Query) -> list[Row]:
        if self.name == "phone_calls":
            return [call for call in self.rows if self._is_wanted_call(call, query)]
        statuses = CHOICES[self.name].get("status", "").split()
        status = query.get("status") if statuses else None
        if status not in statuses and self.own.unknown_status == "everything":
            status = None
        rows = [row for row in self.rows if status in (None, row["status"])]
        return [row for row in rows if self._is_in_range(row, query)] if self.name in RANGED else rows

    def _is_wanted_call(self, call: Row, query: Query) -> bool:
        day = str(datetime.fromisoformat(call["created_at"]).astimezone(self.zone).date())
        shown = call | {"booking_intent": str(call["booking_intent"]).lower()}
        outcomes = [*query.get("outcome[]", ()), *([query["outcome"]] if "outcome" in query else ())]
        return (
            query.get("start_date", "") <= day <= query.get("end_date", "9999-12-31")
            and (not outcomes or call["outcome"] in outcomes)
            and all(shown[name] == query[name] for name in (*CHOICES["phone_calls"], "client_id") if name in query)
        )

    def _is_in_range(self, row: Row, query: Query) -> bool:
        zone = self.zone if self.own.day_zone == "practice" else UTC
        updated = datetime.fromisoformat(row["updated_at"])
        start, end = (query.get(name) for name in ("start_date", "end_date"))
        if end is None and self.own.default_end == "midnight":
            end, closing = str(self.now.astimezone(zone).date()), ")"
        else:
            closing = self.own.bounds[1]
        by_day = self.own.granularity == "day"
        after = 1 if start is None else _compared(updated, start, zone, by_day=by_day)
        before = -1 if end is None else _compared(updated, end, zone, by_day=by_day)
        return after >= (self.own.bounds[0] == "(") and before <= -(closing == ")")


def _is_day(value: str) -> bool:
    try:
        return str(date.fromisoformat(value)) == value
    except ValueError:
        return False


def _compared(updated: datetime, bound: str, zone: tzinfo, *, by_day: bool) -> int:
    """Return -1, 0 or 1 for an instant before, on or after a bound; a bound without a time is a whole day."""
    moment = datetime.fromisoformat(bound)
    if _is_day(bound) or by_day:
        one, other = updated.astimezone(zone).date(), _day_of(moment, zone)
    else:
        one, other = updated, moment if moment.tzinfo else moment.replace(tzinfo=zone)
    return (one > other) - (one < other)


def _day_of(moment: datetime, zone: tzinfo) -> date:
    try:
        return moment.astimezone(zone).date() if moment.tzinfo else moment.date()
    except OverflowError:  # at the ends of the calendar
        return moment.date()
