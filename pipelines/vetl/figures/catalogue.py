"""What a published file can be asked: the metrics of its `meta.metrics`, and the worked questions for analysts."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vetl import bundled
from vetl.core.errors import WarehouseError, WrongUse
from vetl.core.published_file import schema_of
from vetl.core.text import nearest
from vetl.figures.comparisons import refuse_unknown
from vetl.publishing.marts import table_of
from vetl.publishing.statements import Read, columns_of

_COLUMNS = ("metric", "words", "unit", "better", "additive", "maturity", "definition", "mart", "counting")


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric and how it is counted.

    `aggregation` is `count`, `distinct`, `sum` or `median` of an SQL `expression` over the rows of `mart`; `ratio`
    of the metrics `numerator` and `denominator`; or `people`, whose values are kept in the marts of `by`.
    """

    name: str
    words: str
    unit: str
    maturity: str
    definition: str
    mart: str
    aggregation: str
    expression: str = ""
    additive: bool = False
    better: str | None = None
    dimensions: Mapping[str, str] = field(default_factory=dict[str, str])
    numerator: str | None = None
    denominator: str | None = None
    by: Mapping[str, str] = field(default_factory=dict[str, str])
    needs: Sequence[str] = ()
    lists: Sequence[str] = ()
    matures_after_days: int = 0
    """The days after the end of a day until its value no longer grows by itself."""
    relation: str = ""
    """SQL for the rows, if they are not those of `mart` as they are."""
    is_of_now: bool = False
    """Whether it counts the state at the last sync: such a value has no history, and is never final."""

    @property
    def is_mature(self) -> str:
        """SQL for whether a row of `meta.practice_days`, named `counted`, is old enough for the metric."""
        if self.is_of_now:
            return "false"
        if not self.matures_after_days:
            return "true"
        read_through = "(select as_of from marts.practices where practices.practice_id = counted.practice_id)"
        return f"ends_at + interval {24 * self.matures_after_days} hours <= {read_through}"

    @property
    def source(self) -> str:
        """SQL for the rows that are counted."""
        return self.relation or table_of(self.mart)

    @property
    def total(self) -> str:
        """SQL for the value over these rows."""
        if self.aggregation == "distinct":
            return f"count(distinct {self.expression})"
        return f"{self.aggregation}({self.expression})"


def metrics_of(read: Read, file: Path) -> dict[str, Metric]:
    """Return the metrics of a published file, which `read` reads, by name."""
    refuse_older(read, file, "metrics", "metric")
    answer = read(f"select {', '.join(_COLUMNS)} from meta.metrics order by metric")
    metrics: dict[str, Metric] = {}
    for row in answer.rows:
        fields = dict(zip(_COLUMNS, row, strict=True))
        counting = {key: value for key, value in json.loads(fields.pop("counting")).items() if value is not None}
        is_of_now = counting.pop("of_now", False)
        metrics[row[0]] = Metric(name=fields.pop("metric"), is_of_now=is_of_now, **fields, **counting)
    return metrics


def metric_named(metrics: Mapping[str, Metric], name: str) -> Metric:
    """Return a metric by its name; raise `WrongUse` if there is none."""
    refuse_unknown(name, metrics, "metric")
    return metrics[name]


def refuse_older(read: Read, file: Path, mart: str, column: str) -> None:
    """Return if the published file has this column of this mart."""
    if column not in columns_of(read).get(mart, ()):
        raise WarehouseError(
            f"{file}: has no {schema_of(mart)}.{mart}.{column}: an older vetl published it; run `vetl build`"
        )


WORKED = re.compile(r"(### \d+\. ([^\n]+)\n\n`([\w-]+)`[^#]*?```sql\n([^`]+)```\n\n)((?:\|[^\n]*\n)+)")
"""A heading with the question, its name, its statement, and the output as a Markdown table."""

_SUBJECT = re.compile(r"### ([^\n]+)\n\n\| table \|[^\n]+\n\|---\|---\|\n((?:\|[^\n]+\n)+)")
_TABLES = re.compile(r"\| (`[^|]+`) \| ([^\n]+) \|\n")


def tables_by_subject() -> list[tuple[str, str, str]]:
    """Return the tables of `warehouse/README.md` in its order: the subject, the table, and what a row is."""
    page = bundled.analysts_page().read_text("utf-8")
    return [
        (subject, name, words.replace("`", ""))
        for subject, lines in _SUBJECT.findall(page)
        for names, words in _TABLES.findall(lines)
        for name in re.findall(r"`\w+\.(\w+)`", names)
    ]


@dataclass(frozen=True, slots=True)
class Question:
    """The question of a manager (`title`), its SQL statement, and the output on the page."""

    name: str
    title: str
    statement: str
    output: str


def worked_questions() -> list[Question]:
    """Return the questions of `warehouse/README.md`, in its order."""
    found = WORKED.findall(bundled.analysts_page().read_text("utf-8"))
    return [Question(name, title, statement, output) for _, title, name, statement, output in found]


def statement_of(name: str) -> str:
    """Return the statement of the question with this name."""
    statements = {question.name: question.statement for question in worked_questions()}
    if name not in statements:
        hint = nearest(name, statements, "`vetl query --list` names them")
        raise WrongUse(f"--question {name}: there is no such question{hint}")
    return statements[name]
