"""The tools of `vetl mcp`: each reads one published file and answers with definition, finality and certificate.

No tool takes SQL or the path of a file. With a list of practices the file is opened behind views of their rows, so
no question can reach the rows of another practice.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import Field

from vetl.cli.explain import question_about
from vetl.core.errors import VetlError
from vetl.figures.ask import MetricQuestion, ask, describe, dimensions_of, list_of
from vetl.figures.catalogue import Metric
from vetl.figures.evidence import Evidence
from vetl.figures.explanation import explain
from vetl.publishing.statements import reading

INSTRUCTIONS = """\
Figures of veterinary practices, from one published file. Begin with list_metrics; describe says how a metric is
counted and split. Use ask for every number. Give its definition with it, whether it is final, and as_of, the time
of the practice's last sync. Repeat the notes. Never compute a rate from rates, and never add values whose
may_be_added is false: ask again with other dimensions. If ask refuses, say why instead of working around it.
explain shows the rows behind a figure."""

_NAMED = 20
"""The most lists whose evidence is in an answer; those that are certified least far come first."""

By = Annotated[
    list[str] | None,
    Field(description="Dimensions to split by: practice, group, day, week, month, weekday, others"),
]
Where = Annotated[
    list[str] | None,
    Field(description="Comparisons of a dimension with a value by = != < <= > >=, such as direction=inbound"),
]
Day = Annotated[date | None, Field(description="Practice-local day, such as 2026-01-12")]


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools over a published file; `seen` returns the practices of whoever asks, `None` for all."""

    file: Path
    seen: Callable[[], Collection[str] | None]
    most: int

    def list_metrics(self) -> dict[str, Any]:
        """List the metrics: name, meaning, unit, which direction is better, and the dimensions to split by."""
        metrics = list_of(self.file, self.seen())
        return {
            "metrics": [
                {
                    "name": one.name,
                    "words": one.words,
                    "unit": one.unit,
                    "better": one.better,
                    "may_be_added": one.additive,
                    "dimensions": list(dimensions_of(metrics, one)),
                }
                for one in metrics.values()
            ]
        }

    def headlines(self) -> dict[str, Any]:
        """Return the unusual facts of now, the costliest first: words, first day, usual value, how sure."""
        with reading(self.file, self.seen()) as read:
            found = read("select * from marts.headlines where rank is not null order by rank limit 5")
        return _json_value({"headlines": [dict(zip(found.columns, row, strict=True)) for row in found.rows]})

    def describe(self, metric: str) -> dict[str, Any]:
        """Describe one metric: how it is computed, when it is final, and the values of its dimensions."""
        found = describe(self.file, metric, self.seen())
        kind = {"aggregation": found.metric.aggregation, "mart": found.metric.mart, "lists": found.metric.lists}
        counts = {"numerator": found.metric.numerator, "denominator": found.metric.denominator}
        seen = {"dimensions": found.dimensions, "figures": found.figures}
        return _json_value({**_definition(found.metric), **kind, **counts, **seen})

    def ask(
        self, metric: str, by: By = None, where: Where = None, since: Day = None, until: Day = None
    ) -> dict[str, Any]:
        """Answer by metric: one row for each combination of the dimensions in `by`, of the days since and until.

        A rate comes with its numerator and denominator. `days` is the number of days that a row covers.
        """
        question = MetricQuestion(metric, by or (), where or (), since, until, self.most)
        answer = ask(self.file, question, self.seen())
        return _json_value(
            {
                **_definition(answer.metric),
                "columns": answer.columns,
                "rows": answer.rows,
                "notes": [*answer.notes, *answer.doubts][:_NAMED],
                **_evidence(answer.evidence),
            }
        )

    def explain(
        self,
        figure: Annotated[str, Field(description="A mart and a column, such as practice_daily.calls")],
        practice: str | None = None,
        day: Day = None,
        where: Where = None,
    ) -> dict[str, Any]:
        """Show the rows that a figure of a mart counts, what proves them, and what may still change it."""
        question = replace(question_about(figure, practice), day=day, where=where or (), most=self.most)
        found = explain(self.file, question, self.seen())
        return _json_value(
            {
                "figure": figure,
                "value": found.value,
                "unit": found.unit,
                "definition": found.definition,
                "rows_agree": found.agrees,
                "is_final": found.is_final,
                "may_change": found.may_change[:_NAMED],
                "revisions": [asdict(one) for one in found.revisions],
                "columns": found.columns,
                "rows": found.rows,
                **_evidence(found.certificates),
            }
        )


def server(tools: Tools, version: str, **more: Any) -> MCPServer:  # noqa: ANN401 - the SDK's own
    """Return the server with the tools. A question that vetl refuses becomes an error of its tool, in one line."""
    made = [
        _tool(function)
        for function in (tools.list_metrics, tools.headlines, tools.describe, tools.ask, tools.explain)
    ]
    return MCPServer("vetl", version=version, instructions=INSTRUCTIONS, log_level="WARNING", tools=made, **more)


def _tool(function: Callable[..., dict[str, Any]]) -> Tool:
    """Return a tool that refuses unknown arguments; the SDK would answer as if they were not there."""
    only_reads = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
    description = " ".join((function.__doc__ or "").split())
    made = Tool.from_function(_in_one_line(function), description=description, annotations=only_reads)
    arguments = made.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    made.parameters["additionalProperties"] = False
    return made


def _definition(metric: Metric) -> dict[str, Any]:
    return {
        "metric": metric.name,
        "words": metric.words,
        "unit": metric.unit,
        "better": metric.better,
        "definition": metric.definition,
        "may_be_added": metric.additive,
        "is_final_when": metric.maturity,
    }


def _evidence(evidence: Sequence[Evidence]) -> dict[str, Any]:
    """Return the freshness and the certificates; of many lists those that are certified least far."""
    by_age = sorted(evidence, key=lambda one: (one.certified_through is not None, one.certified_through))
    return {"lists": len(by_age), "evidence": [asdict(one) for one in by_age[:_NAMED]]}


def _json_value(value: Any) -> Any:  # noqa: ANN401 - any value of an answer
    """Return a value as JSON has it: instants, days and other values of DuckDB as texts."""
    if isinstance(value, dict):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(item) for item in value]
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _in_one_line(tool: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    @wraps(tool)
    def answer(*arguments: Any, **named: Any) -> dict[str, Any]:  # noqa: ANN401 - those of the tool
        try:
            return tool(*arguments, **named)
        except VetlError as error:
            raise ToolError(str(error)) from None

    return answer
