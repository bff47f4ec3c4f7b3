"""The order of the stages of online booking: the interface does not show it, sessions that move do."""

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

MOVES = """
with versions as (
    select practice_id, id, stage, _valid_from as seen_at from history.booking_sessions where stage <> ''
    union all
    select practice_id, id, stage, _loaded_at as seen_at from raw.booking_sessions where stage <> ''
)
select earlier.stage, later.stage, count(*)
from versions as earlier
inner join versions as later using (practice_id, id)
where earlier.seen_at < later.seen_at and earlier.stage <> later.stage
group by all order by all
"""
"""The pairs of stages at which a session was seen one after the other, and how often. All pairs, not only
neighbours: a sync sees some of the stages."""


def order_of_stages(moves: Mapping[tuple[str, str], int]) -> tuple[str, ...]:
    """Return the stages as most sessions passed them, or none if the majorities form a circle."""
    before: dict[str, set[str]] = {}
    for (here, there), times in moves.items():
        if times > moves.get((there, here), 0):
            before.setdefault(there, set()).add(here)
    try:
        return tuple(TopologicalSorter(before).static_order())
    except CycleError:
        return ()
