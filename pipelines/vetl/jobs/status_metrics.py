"""`vetl status` in the text format of Prometheus, for the textfile collector of its node exporter."""

from collections.abc import Iterator
from datetime import datetime

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from vetl.jobs.status_report import StatusReport
from vetl.store.notes import FINE

_OF_LISTS = ("practice", "list")


class _Status(Collector):
    """The values of one report. Times are seconds since 1970, as Prometheus subtracts them from `time()`."""

    def __init__(self, report: StatusReport) -> None:
        self._report = report

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield each metric with its values."""
        report = self._report
        yield GaugeMetricFamily("vetl_status_exit_code", "The exit code of `vetl status`.", report.exit_code)
        yield from self._of_lists()
        succeeded = GaugeMetricFamily("vetl_last_success_seconds", "When it last succeeded.", labels=["part"])
        well = GaugeMetricFamily("vetl_last_ok", "0 if the last one failed or was killed.", labels=["part"])
        for part, last in (("sync", report.sync), ("build", report.build), ("publication", report.publication)):
            if last:
                well.add_metric([part], last.outcome in {"done", "running"})
                _add_time(succeeded, [part], last.succeeded_at)
        yield from (succeeded, well)
        if report.inbox and report.inbox["waiting"] is not None:
            yield GaugeMetricFamily("vetl_inbox_waiting", "Webhooks to drain.", report.inbox["waiting"])

    def _of_lists(self) -> Iterator[GaugeMetricFamily]:
        fine = GaugeMetricFamily("vetl_list_ok", "0 if it failed or is not certified.", labels=_OF_LISTS)
        rows = GaugeMetricFamily("vetl_list_rows", "Rows that the platform has.", labels=_OF_LISTS)
        held = GaugeMetricFamily("vetl_list_quarantined", "Rows that nobody has acknowledged.", labels=_OF_LISTS)
        read = GaugeMetricFamily("vetl_list_read_seconds", "When it was last read.", labels=_OF_LISTS)
        certified = GaugeMetricFamily(
            "vetl_list_certified_until_seconds", "The end of what is certified.", labels=_OF_LISTS
        )
        for item in self._report.snapshot.lists:
            labels = [item.practice_id, item.endpoint]
            fine.add_metric(labels, item.state in FINE)
            rows.add_metric(labels, item.rows)
            held.add_metric(labels, item.unacknowledged)
            _add_time(read, labels, item.attempt and item.attempt.last_read)
            _add_time(certified, labels, item.certified_through)
        yield from (fine, rows, held, read, certified)


def _add_time(metric: GaugeMetricFamily, labels: list[str], instant: str | None) -> None:
    if instant:
        metric.add_metric(labels, datetime.fromisoformat(instant).timestamp())


def as_metrics(report: StatusReport) -> str:
    """Return a report in the text format; no label has personal data."""
    registry = CollectorRegistry()
    registry.register(_Status(report))
    return generate_latest(registry).decode()
