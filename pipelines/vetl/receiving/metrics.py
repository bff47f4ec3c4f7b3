"""The counts of the receiver in the text format of Prometheus."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The counts of one process since its start."""

    def __init__(self) -> None:
        self._deliveries: Counter[tuple[str, str]] = Counter()
        self._buckets = [0] * (len(BOUNDS) + 1)
        self._seconds = 0.0

    def count(self, channel: str, result: str, seconds: float) -> None:
        """Count a finished request; `result` is a word such as kept or refused, never a value of the body."""
        self._deliveries[channel, result] += 1
        self._buckets[bisect_left(BOUNDS, seconds)] += 1
        self._seconds += seconds

    def text(self, state: Mapping[str, tuple[str, float]]) -> str:
        """Return all counts, and the values of `state`, which maps a name to its description and its value.

        A name that ends in `_total` is a counter, and every other name a gauge.
        """
        return "".join(f"{line}\n" for line in self._lines(state))

    def _lines(self, state: Mapping[str, tuple[str, float]]) -> Iterable[str]:
        name = "vetl_webhook_deliveries_total"
        yield from _head(name, "counter", "Requests to the webhook addresses, by their result.")
        for (channel, result), count in sorted(self._deliveries.items()):
            yield f'{name}{{channel="{channel}",result="{result}"}} {count}'
        name = "vetl_webhook_seconds"
        yield from _head(name, "histogram", "From the request's head to its answer.")
        total = 0
        for bound, count in zip((*BOUNDS, "+Inf"), self._buckets, strict=True):
            total += count
            yield f'{name}_bucket{{le="{bound}"}} {total}'
        yield f"{name}_sum {self._seconds:.6f}"
        yield f"{name}_count {total}"
        for name, (meaning, value) in state.items():
            yield from _head(name, "counter" if name.endswith("_total") else "gauge", meaning)
            yield f"{name} {value:.15g}"


def _head(name: str, kind: str, meaning: str) -> tuple[str, str]:
    return f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"
