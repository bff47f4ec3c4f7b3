"""`vetl status` in the text format of Prometheus, for the textfile collector of its node exporter.

Times are seconds since 1970, as Prometheus subtracts them from `time()`.
"""

from datetime import datetime
from functools import partial

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from vetl.jobs.status_report import StatusReport
from vetl.store.notes import FINE


def as_metrics(report: StatusReport) -> str:
    """Return a report in the text format; no label has personal data."""
    registry = CollectorRegistry()
    gauge = partial(Gauge, registry=registry)
    gauge("vetl_status_exit_code", "The exit code of `vetl status`.").set(report.exit_code)
    of_list = partial(gauge, labelnames=("practice", "list"))
    fine = of_list("vetl_list_ok", "0 if it failed or is not certified.")
    rows = of_list("vetl_list_rows", "Rows that the platform has.")
    held = of_list("vetl_list_quarantined", "Rows that nobody has acknowledged.")
    read = of_list("vetl_list_read_seconds", "When it was last read.")
    certified = of_list("vetl_list_certified_until_seconds", "The end of what is certified.")
    for item in report.snapshot.lists:
        labels = item.practice_id, item.endpoint
        fine.labels(*labels).set(item.state in FINE)
        rows.labels(*labels).set(item.rows)
        held.labels(*labels).set(item.unacknowledged)
        _set_time(read, labels, item.attempt and item.attempt.last_read)
        _set_time(certified, labels, item.certified_through)
    of_part = partial(gauge, labelnames=("part",))
    succeeded = of_part("vetl_last_success_seconds", "When it last succeeded.")
    well = of_part("vetl_last_ok", "0 if the last one failed or was killed.")
    for part, last in (("sync", report.sync), ("build", report.build), ("publication", report.publication)):
        if last:
            well.labels(part).set(last.outcome in {"done", "running"})
            _set_time(succeeded, (part,), last.succeeded_at)
    if report.inbox and report.inbox["waiting"] is not None:
        gauge("vetl_inbox_waiting", "Webhooks to drain.").set(report.inbox["waiting"])
    return generate_latest(registry).decode()


def _set_time(gauge: Gauge, labels: tuple[str, ...], instant: str | None) -> None:
    if instant:
        gauge.labels(*labels).set(datetime.fromisoformat(instant).timestamp())
