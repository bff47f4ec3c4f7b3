"""The counts of the receiver, for Prometheus."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from vetl.core.errors import InboxError
from vetl.receiving.group_commit import GroupCommit
from vetl.receiving.inbox import Backlog

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The counts of one process since its start, and the state of its inbox."""

    def __init__(self, inbox: GroupCommit, backlog: Callable[[], Backlog]) -> None:
        self.registry = CollectorRegistry()
        self._deliveries = Counter(
            "vetl_webhook_deliveries",
            "Requests to the webhook addresses, by their result.",
            ["channel", "result"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "vetl_webhook_seconds",
            "From the request's head to its answer.",
            buckets=_BOUNDS,
            registry=self.registry,
        )
        self.registry.register(_InboxState(inbox, backlog))

    def count(self, channel: str, result: str, seconds: float) -> None:
        """Count a finished request; `result` is a word such as kept or refused, never a value of the body."""
        self._deliveries.labels(channel, result).inc()
        self._seconds.observe(seconds)


class _InboxState(Collector):
    """The state of the inbox at the time of the question."""

    def __init__(self, inbox: GroupCommit, backlog: Callable[[], Backlog]) -> None:
        self._inbox = inbox
        self._backlog = backlog

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield each value."""
        try:
            backlog = self._backlog()
        except InboxError:
            backlog = None
        yield _gauge("vetl_webhook_waiting_for_commit", "Deliveries that wait for a commit.", self._inbox.waiting)
        yield _gauge("vetl_inbox_commits", "Commits since the start.", self._inbox.commits)
        yield _gauge("vetl_inbox_readable", "1 while the inbox can be read.", backlog is not None)
        if backlog is not None:
            age = (datetime.now(UTC) - backlog.oldest).total_seconds() if backlog.oldest else 0
            yield _gauge("vetl_inbox_waiting", "Deliveries that wait for `vetl webhooks drain`.", backlog.waiting)
            yield _gauge("vetl_inbox_oldest_seconds", "Seconds that the oldest of them has waited.", age)


def _gauge(name: str, meaning: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, meaning, float(value))
