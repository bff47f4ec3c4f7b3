"""Servers that the contract allows: every point that it leaves open, chosen at random from a seed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, Final

from support.lists import RANGED, WITH_IDS
from vetl.discovery.parameter_names import DATE_RANGE_NAMES, PAGE_NAMES, SIZE_NAMES, STATUS_NAMES

LISTS: Final = WITH_IDS
ORDERS: Final = ["created_desc", "created_asc", "updated_desc", "updated_asc", "unordered"]
A_DAY: Final = 86_400
ENDPOINTS: Final = (*LISTS, *LISTS, "phone_calls", "clients", "patients")
Switches = dict[str, Any]


@dataclass
class Server:
    """One server.

    Attributes:
        switches: Of the sandbox, lists by their own mapping.
        parameters: Query names that the user has written into `vetl.toml`, by list.
        drawn: The special points of this server.
        hidden: Lists of which the server does not show all rows, or so that nobody can be certain of them.
        keeps: Lists of which a row that was deleted without a trace looks the same as a hidden row.
        endpoints: The lists that are read in this story; a few, so that there can be many stories.
        exits: Exit codes that a sync at rest may end with; only 0 if no list has a fault to report.
    """

    switches: dict[str, Any] = field(default_factory=lambda: {name: {} for name in LISTS})
    parameters: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    drawn: list[str] = field(default_factory=list[str])
    hidden: set[str] = field(default_factory=set[str])
    keeps: set[str] = field(default_factory=set[str])
    endpoints: tuple[str, ...] = ()
    exits: tuple[int, ...] = (0,)

    def on(self, name: str, **switches: Any) -> None:
        self.switches[name] |= switches


Draw = Callable[[Server, Random], None]

OF_LISTS: Final[Mapping[str, tuple[float, tuple[str, ...], Callable[[Random], Switches]]]] = {
    "page_base": (0.4, LISTS, lambda _: {"page_base": 1}),
    "sizes": (
        0.5,
        LISTS,
        lambda rng: {"maximum_size": rng.choice([3, 7, 25, 50]), "over_large": rng.choice(["clamp", "refuse"])},
    ),
    "orders": (0.6, LISTS, lambda rng: {"order": rng.choice(ORDERS)}),
    "bounds": (
        0.6,
        RANGED,
        lambda rng: {
            "bounds": rng.choice(["[]", "[)", "(]", "()"]),
            "granularity": rng.choice(["instant", "instant", "day"]),
            "instants": rng.choice(["taken", "taken", "refused"]),
            "day_zone": rng.choice(["UTC", "practice"]),
            "start_required": rng.random() < 0.7,
        },
    ),
    "statuses": (0.5, LISTS, lambda rng: {"unknown_status": rng.choice(["refuse", "nothing", "everything"])}),
    "moving_ties": (0.3, LISTS, lambda _: {"ties": "moving"}),
    "default_end": (0.4, RANGED, lambda _: {"default_end": "midnight"}),
}
"""Draws of switches for some lists, each by itself: their share, and the lists that have them."""


def switch_lists(draw: str, server: Server, rng: Random) -> None:
    share, lists, switches = OF_LISTS[draw]
    for name in lists:
        if rng.random() < share:
            server.on(name, **switches(rng))


def names(server: Server, rng: Random) -> None:
    """Use other names for some parameters; half of the time the user has written them down."""
    for name in LISTS:
        renamed: dict[str, str] = {}
        if rng.random() < 0.4:
            renamed["page"] = rng.choice(PAGE_NAMES)
        if rng.random() < 0.4:
            renamed["per_page"] = rng.choice(SIZE_NAMES)
        if rng.random() < 0.3 and name != "appointments":
            renamed["status"] = rng.choice(STATUS_NAMES)
        if rng.random() < 0.5 and name in RANGED:
            renamed["start"], renamed["end"] = rng.choice(DATE_RANGE_NAMES)
        server.on(name, **renamed)
        if renamed and rng.random() < 0.5:
            server.parameters[name] = renamed


def one_sided_names(server: Server, rng: Random) -> None:
    """Use the start of one pair of names with the end of another."""
    name = rng.choice(RANGED)
    start, end = rng.choice(DATE_RANGE_NAMES)[0], rng.choice(DATE_RANGE_NAMES)[1]
    server.on(name, **({"start": start} if rng.random() < 0.5 else {"end": end}))
    server.parameters.pop(name, None)


def ignored_bound(server: Server, rng: Random) -> None:
    """Ignore the start or the end of a range, under any name."""
    name = rng.choice(RANGED)
    server.on(name, ignored=[rng.choice(["start", "end"])])
    if "end" in server.switches[name]["ignored"]:
        server.keeps |= {name} & {"appointments"}  # which has no get by id
        server.hidden |= {name} if server.switches[name].get("default_end") == "midnight" else set()


def ignored_page(server: Server, rng: Random) -> None:
    """Serve nothing beyond the first page."""
    name = rng.choice(LISTS)
    server.on(name, ignored=["page"])
    server.hidden.add(name)


def random_order(server: Server, rng: Random) -> None:
    name = rng.choice(LISTS)
    server.on(name, order="random")
    server.hidden.add(name)


def lying_total(server: Server, rng: Random) -> None:
    name = rng.choice((*LISTS, "phone_calls"))
    server.switches.setdefault(name, {})["told_total"] = rng.choice([10**15, 10**9, 100_000])
    server.hidden.add(name)


def empty_pages(server: Server, rng: Random) -> None:
    name = rng.choice(LISTS)
    server.on(name, empty_rows=rng.choice([1, 50, 5000]))
    server.hidden |= {name, "clients", "patients"}


def sign_in_refusals(server: Server, rng: Random) -> None:
    server.switches["sign_in_refusals"] = rng.choice([0.02, 0.04])


def token_uses(server: Server, rng: Random) -> None:
    server.switches["token_uses"] = rng.choice([3, 10, 50])


def token_lifetimes(server: Server, rng: Random) -> None:
    server.switches["token_lifetime_seconds"] = rng.choice([60, 86_400 * 400])
    server.switches["sign_in_status"] = rng.choice([200, 201])


def clock_ahead(server: Server, rng: Random) -> None:
    server.switches["date_ahead_seconds"] = ahead = rng.choice([-90, 30, 3_600, A_DAY, 5 * A_DAY])
    if ahead >= A_DAY:
        server.exits = (0, 3)


def wrong_zone(server: Server, rng: Random) -> None:
    """Set a zone an hour or more away from New York."""
    server.switches["told_time_zones"] = {"loc-001": rng.choice(["America/Chicago", "America/Phoenix", "UTC"])}
    server.hidden.add("phone_calls")


def crowded_days(server: Server, rng: Random) -> None:
    """Make days of calls beyond one page, in the CSV too; the calls of one of them never end."""
    server.switches["csv_maximum_size"] = rng.choice([3, 5, 8])
    server.switches["unfinished_calls_on"] = "2026-01-13"


def shapes(server: Server, rng: Random) -> None:
    server.switches |= {
        "timestamps": rng.choice(["milliseconds", "seconds", "microseconds", "offset", "practice"]),
        "integer_ids": rng.random() < 0.5,
        "csv_labels": rng.choice(["raw", "humanized"]),
        "csv_newline": rng.choice(["\n", "\r\n"]),
        "unknown_parameters": rng.choice(["ignored", "refused"]),
        "session_expiry_minutes": rng.choice([5, 30, 600]),
    }


SELDOM: Final[tuple[tuple[Draw, float], ...]] = (
    (one_sided_names, 0.15),
    (ignored_bound, 0.15),
    (ignored_page, 0.07),
    (random_order, 0.07),
    (lying_total, 0.1),
    (empty_pages, 0.05),
    (sign_in_refusals, 0.2),
    (token_uses, 0.2),
    (token_lifetimes, 0.3),
    (clock_ahead, 0.15),
    (wrong_zone, 0.1),
    (crowded_days, 0.2),
)
DRAWS: Final[Mapping[str, tuple[Draw, float]]] = {
    **{name: (partial(switch_lists, name), 0.5 if name == "default_end" else 1.0) for name in OF_LISTS},
    **{draw.__name__: (draw, share) for draw, share in ((names, 1.0), (shapes, 1.0), *SELDOM)},
}


def server_of(seed: int) -> Server:
    """Return the server of a seed. Each draw has its own dice, so leaving one out changes no other."""
    server = Server(endpoints=tuple(Random(f"{seed}/endpoints").sample(ENDPOINTS, 2)))
    for name, (draw, share) in DRAWS.items():
        rng = Random(f"{seed}/{name}")
        if rng.random() < share:
            draw(server, rng)
            server.drawn.append(name)
    if server.hidden & set(server.endpoints):
        drawn = set(server.drawn)
        # A crowded day is read by instants: in a wrong zone its calls are of other days, and the list fails.
        unreadable = {"ignored_page", "empty_pages"} & drawn or {"wrong_zone", "crowded_days"} <= drawn
        server.exits = (0, 1, 3) if unreadable else (0, 3)
    return server
