"""`[watch]`: thresholds of metrics, and who hears if a practice is outside of one."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from vetl import bundled
from vetl.core.text import nearest
from vetl.settings.section import Address, Count, FilePath, Number, Section, Whole

Periods = Annotated[Whole, Field(ge=1, le=366)]


def metric_name(name: str) -> str:
    """Return the name of a metric that the dbt project declares: settings refuse another name without a file."""
    from vetl.publishing.descriptions import declared_metrics  # reads YAML, which most folders do not need

    of_now = declared_metrics(bundled.dbt_project())
    if name not in of_now:
        raise ValueError(f"is no metric: {name}{nearest(name, sorted(of_now))}")
    if of_now[name]:
        raise ValueError(f"counts the present state, so no closed day or week has a value: {name}")
    return name


class Threshold(Section):
    """`[[watch.thresholds]]`: a metric by practice, and the values that are out.

    A practice is out if so many closed periods in a row, `periods`, are above or below. A share of fewer
    than `least` cases says nothing. `to` are mail addresses; without any, those of `[alerts]` hear.
    """

    measure: Annotated[str, AfterValidator(metric_name)]
    where: tuple[str, ...] = ()
    practices: tuple[str, ...] = ()
    by: Literal["day", "week"] = "week"
    above: Number | None = None
    below: Number | None = None
    periods: Periods = 1
    least: Count = 10
    to: tuple[Address, ...] = ()

    @model_validator(mode="after")
    def _one_rule(self) -> Self:
        if (self.above is None) == (self.below is None):
            msg = f"{self.measure}: give exactly one of above and below"
            raise ValueError(msg)
        return self

    @property
    def limit(self) -> str:
        """Return the values that are out: `below 0.4`."""
        return f"above {self.above:g}" if self.above is not None else f"below {self.below:g}"

    @property
    def rule(self) -> str:
        """Return the rule in words: `calls by day (direction=inbound) below 1`."""
        of = f" ({', '.join(self.where)})" if self.where else ""
        lasting = f" for {self.periods} {self.by}s" if self.periods > 1 else ""
        return f"{self.measure} by {self.by}{of} {self.limit}{lasting}"


class WatchSettings(Section):
    """`[watch]`: whether headlines ring, the thresholds that every build looks at, and the ledger of notices."""

    headlines: bool = True
    thresholds: tuple[Threshold, ...] = ()
    ledger: FilePath = Path("warehouse/data/watch.sqlite")

    def practices_named(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield the practices of each threshold."""
        for number, threshold in enumerate(self.thresholds):
            yield f"thresholds[{number}].practices", threshold.practices
