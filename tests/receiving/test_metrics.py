"""The metrics for Prometheus: exactly in the text format, and without personal data."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from support.deliveries import message, outreach
from support.receiver_process import ROOT

Opened = Callable[..., AbstractContextManager[Any]]

NAME = re.compile(r"[a-z][a-z0-9_]*")
SAMPLE = re.compile(r"(?P<name>\w+)(?:\{(?P<labels>[^}]*)\})? (?P<value>\S+)")
LABEL = re.compile(r'(\w+)="([^"\\\n]*)"')
SUFFIXES = {"counter": ("",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}


def read(text: str) -> dict[str, dict[str, Any]]:
    """Return the families of an exposition in text format 0.0.4: kind, and samples by their name and labels."""
    families: dict[str, dict[str, Any]] = {}
    before, *parts = text.split("# HELP ")
    assert (before, text[-1]) == ("", "\n")
    for part in parts:
        head, kind, *lines = part.splitlines()
        family, meaning = head.split(" ", 1)
        assert NAME.fullmatch(family)
        assert meaning
        assert family not in families
        assert kind.startswith(f"# TYPE {family} ")
        families[family] = {"kind": kind.split()[-1], "samples": {}}
        for line in lines:
            sample = SAMPLE.fullmatch(line)
            assert sample, line
            assert sample["name"] in {family + suffix for suffix in SUFFIXES[families[family]["kind"]]}
            labels = tuple(LABEL.findall(sample["labels"] or ""))
            assert ",".join(f'{name}="{value}"' for name, value in labels) == (sample["labels"] or "")
            assert (sample["name"], labels) not in families[family]["samples"]
            families[family]["samples"][sample["name"], labels] = float(sample["value"])
    return families


def test_prometheus_can_read_the_metrics_and_the_docs_describe_each(receiver: Opened) -> None:
    with receiver() as running:
        for number in range(3):
            running.send("messages", message(f"m-{number}", client_id="Rover-Smith"))
        running.send("ai_outbound", outreach(), "wrong")
        answer = running.get("/metrics")
    families = read(answer.text)

    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    page = (ROOT / "docs/webhooks.md").read_text()
    assert [name for name in families if name not in page] == []
    for name, family in families.items():
        assert name.startswith("vetl_")
        assert (family["kind"] == "counter") == name.endswith("_total")
    deliveries = families["vetl_webhook_deliveries_total"]["samples"]
    assert deliveries == {
        ("vetl_webhook_deliveries_total", (("channel", "messages"), ("result", "kept"))): 3,
        ("vetl_webhook_deliveries_total", (("channel", "ai_outbound"), ("result", "refused"))): 1,
    }
    seconds = families["vetl_webhook_seconds"]["samples"]
    buckets = [(labels[0][1], value) for (name, labels), value in seconds.items() if name.endswith("_bucket")]
    assert [float(bound) for bound, _ in buckets] == sorted(float(bound) for bound, _ in buckets)
    assert [value for _, value in buckets] == sorted(value for _, value in buckets)
    assert buckets[-1] == ("+Inf", 4)
    assert seconds["vetl_webhook_seconds_count", ()] == 4
    assert "Rover" not in answer.text
    assert "loc-001" not in answer.text
