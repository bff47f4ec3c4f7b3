"""Checks that the published file is complete and plausible. They read the file itself, which is never locked."""

from collections.abc import Callable, Iterator

import dagster as dg

from vetl.core.errors import WarehouseError
from vetl.orchestration.checks import Verdict
from vetl.orchestration.keys import PUBLISHED
from vetl.orchestration.resources import VetlResource
from vetl.publishing.statements import query
from vetl.settings import Settings

_FEWER = """
select practice_id, endpoint, source_count, warehouse_count from meta.proof
where warehouse_count < source_count order by source_count - warehouse_count desc
"""
"""Only missing rows are a problem: a list may grow between two counts at the source."""

_SILENT = """
with days as (
    select practice_id, day, sum(calls) as calls from marts.booking_intent_daily group by all
), weeks as (
    select practice_id, today - 1 as last_day, today - 1 - 7 * ago::integer as day
    from marts.practices, range(1, 9) as before(ago) where history_start <= today - 1 - 7 * ago::integer
), usual as (
    select practice_id, last_day, median(coalesce(calls, 0)) as calls
    from weeks left join days using (practice_id, day) group by all
)
select usual.practice_id, usual.last_day, usual.calls from usual
left join days on days.practice_id = usual.practice_id and days.day = usual.last_day
where isodow(usual.last_day) <= 6 and usual.calls >= 3 and coalesce(days.calls, 0) = 0
order by usual.calls desc
"""

PUBLISHED_CHECKS = {
    "equals_source": (
        "No list has fewer rows than the source counted at the last complete read.",
        ("practice", "list", "rows at the source", "rows published"),
        _FEWER,
    ),
    "volume": (
        "Every practice had a call on its last working day, if it usually has calls on that weekday.",
        ("practice", "day", "usual calls"),
        _SILENT,
    ),
}


_added: dict[str, tuple[str, Callable[[Settings], Verdict]]] = {}


def add_check(name: str, description: str, verdict: Callable[[Settings], Verdict]) -> None:
    """Add a check of an addon."""
    _added[name] = (description, verdict)


def check_published() -> dg.AssetChecksDefinition:
    """Return the checks of the published file with those of addons."""
    descriptions = {name: description for name, (description, *_) in (PUBLISHED_CHECKS | _added).items()}

    @dg.multi_asset_check(
        name="check_published",
        can_subset=True,
        specs=[
            dg.AssetCheckSpec(name, asset=PUBLISHED, description=description)
            for name, description in descriptions.items()
        ],
    )
    def check(context: dg.AssetCheckExecutionContext, vetl: VetlResource) -> Iterator[dg.AssetCheckResult]:
        """Run the checks. Failures are warnings, because none of them proves a fault."""
        for name, verdict in published_verdicts(vetl.settings()):
            if dg.AssetCheckKey(PUBLISHED, name) in context.selected_asset_check_keys:
                yield verdict.result(PUBLISHED, name)

    return check


def published_verdicts(settings: Settings) -> Iterator[tuple[str, Verdict]]:
    """Yield the result of every check of the published file; a file that cannot be read fails them."""
    for name, (_, columns, sql) in PUBLISHED_CHECKS.items():
        try:
            yield name, Verdict(columns, query(settings.warehouse.published, sql).rows)
        except WarehouseError as error:
            yield name, Verdict(("error",), [(str(error),)])
    for name, (_, verdict) in _added.items():
        yield name, verdict(settings)
