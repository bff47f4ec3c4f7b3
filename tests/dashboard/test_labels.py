"""One label is one measure: on every page, in the letter, and in `vetl metric`."""

from collections import Counter, defaultdict
from datetime import date, timedelta
from pathlib import Path

import pytest
from board.pages import PAGES
from board.scorecard import MEASURES
from board.words import LABELS
from support.dashboard_pages import Ask, Open
from vetl.addons.letters.letter import SHARES
from vetl.figures.ask import MetricQuestion, ask, list_of
from vetl.figures.catalogue import Metric

CLOSED = {"outreach, booked": timedelta(days=4)}
"""Figures that leave out the newest days."""
WHERE = {"calls answered": ("direction=inbound",)}


@pytest.fixture(scope="module")
def metrics(file: Path) -> dict[str, Metric]:
    return {metric.words.casefold(): metric for metric in list_of(file).values()}


def test_no_two_metrics_share_a_label(file: Path) -> None:
    labels = Counter(metric.words.casefold() for metric in list_of(file).values())

    assert [label for label, number in labels.items() if number > 1] == []


def test_a_label_has_one_value_on_every_page_and_that_of_its_metric(
    opened: Open, file: Path, metrics: dict[str, Metric], days: tuple[date, date]
) -> None:
    """Visits due were 1,046 on one page and 959 on another."""
    shown: dict[str, set[str]] = defaultdict(set)
    for page in PAGES:
        for metric in opened(page.path if page is not PAGES[0] else "").metric:
            shown[metric.label.casefold()].add(str(metric.value))

    assert {label: values for label, values in shown.items() if len(values) > 1} == {}
    compared = shown.keys() & metrics.keys()
    assert {"visits", "no-show rate", "sessions", "online, completed", "outreach, booked"} <= compared
    for label in compared:
        metric, (since, until) = metrics[label], days
        where, until = WHERE.get(label, ()), until - CLOSED.get(label, timedelta())
        [row] = ask(file, MetricQuestion(metric.name, (), where, since, until)).rows
        is_share = metric.aggregation == "ratio"
        digits = 0 if not is_share or row[-3] >= 0.1 else 1
        said = f"{row[-3] * 100:.{digits}f}".removesuffix(".0") + "%" if is_share else f"{row[-3]:,.0f}"
        assert shown[label] == {said}, label


def test_page_and_letter_have_the_same_labels_for_the_same_shares(metrics: dict[str, Metric]) -> None:
    by_name = {metric.name: metric for metric in metrics.values()}
    letter = {share.key: share for share in SHARES}
    page = {measure.key: measure for measure in MEASURES}

    assert {key: share.label for key, share in letter.items()} == {key: one.label for key, one in page.items()}
    for key, share in letter.items():
        rate = by_name.get(page[key].metric or "")
        if rate:
            assert (share.some, share.whole) == (rate.numerator, rate.denominator)
            assert share.where == page[key].where
        named = metrics.get(share.label.casefold())
        assert named is None or named is rate


def test_no_two_columns_share_a_label_and_none_has_that_of_another_metric(
    metrics: dict[str, Metric], ask: Ask
) -> None:
    labels = Counter(label.casefold() for label in LABELS.values())
    counted = set(ask("select column_name, counted_as from meta.catalogue where counted_as is not null"))
    shares = {f"{measure.key}_share": measure.metric for measure in MEASURES}

    assert [label for label, number in labels.items() if number > 1] == []
    for column, label in LABELS.items():
        metric = metrics.get(label.casefold())
        if metric:
            is_same = shares.get(column) == metric.name or column.removesuffix("_share") in metric.name
            assert is_same or (column, metric.name) in counted, (column, metric.name)
    assert [one for one in metrics.values() if one.is_of_now and one.words in LABELS.values()] == []
