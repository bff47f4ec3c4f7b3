"""The tools of `vetl mcp`: each reads one published file and answers with definition, finality and certificate.

No tool takes SQL or the path of a file. With a list of practices the file is opened behind views of their rows, so
no question can reach the rows of another practice.
"""

import json
import re
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
from pydantic import Field, ValidationError

from vetl.cli.explain import question_about
from vetl.core.errors import VetlError
from vetl.figures.ask import FRAME, MetricQuestion, ask, describe, dimensions_of, list_of
from vetl.figures.catalogue import Metric
from vetl.figures.comparisons import Comparison, conditions, unmatched, with_ids
from vetl.figures.evidence import Evidence
from vetl.figures.explanation import explain
from vetl.publishing.statements import reading

INSTRUCTIONS = """\
Figures of veterinary practices, from one published file. Begin with list_metrics and practices, which has the
present day of each practice: count "yesterday" and "last week" from it. describe says how a metric is counted and
split. Use ask for every number; a practice has an id or a name. Give the definition with it, whether it is final,
and as_of, the time of the practice's last sync. Repeat the notes. Never compute a rate from rates, and never add
values whose may_be_added is false: ask again with other dimensions. If ask refuses, say why instead of working
around it. explain shows the rows behind a figure."""

_FEW = 20
"""So many rows, notes, and lists with their evidence are in an answer, unless more are asked for."""

_SHORT = 3_900
"""An explanation has at most so many characters, unless more rows are asked for: an assistant reads all of it."""

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
        """List the metrics by subject, each with its meaning if its name does not say it, and the dimensions."""
        metrics = list_of(self.file, self.seen())
        subjects: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for one in metrics.values():
            says_it = re.sub(r"\W+", "_", one.words.lower()) == one.name
            named = one.name if says_it else f"{one.name} ({one.words})"
            subjects.setdefault((one.mart, dimensions_of(metrics, one)), []).append(named)
        usual = tuple(FRAME)
        lines = [f"{_subject(mart, by, usual)}: {', '.join(names)}" for (mart, by), names in subjects.items()]
        return {"every_metric_splits_by": f"{', '.join(usual)}, unless `only by` says less", "metrics": lines}

    def practices(self) -> dict[str, Any]:
        """List the practices: id, name, group, the present day there, and the last day that is over."""
        return self._rows(
            "practices",
            "select practice_id, name, group_name, time_zone, today, as_of,"
            " max(day) filter (where is_over) as last_closed_day"
            " from marts.practices left join meta.practice_days using (practice_id) group by all order by name",
        )

    def call_back_list(self, practice: str | None = None) -> dict[str, Any]:
        """List whom to call back, the most urgent first: ids of clients and what they wanted, no names."""
        return self._rows(
            "call_back",
            "select practice_id, practice_name, urgency, client_id, channel, wanted, reason, contacts, last_at,"
            " age_hours from marts.call_back_list where {of} order by urgency, practice_id",
            practice,
            _FEW,
        )

    def forecast(self, practice: str | None = None) -> dict[str, Any]:
        """Return the calls that are expected by hour in the next days, with the 80 % interval of each hour."""
        return self._rows(
            "hours",
            "select practice_id, day, hour, round(calls_expected, 1) as calls, round(calls_low, 1) as low,"
            " round(calls_high, 1) as high from marts.calls_forecast where not is_over and {of}"
            " qualify made_at = max(made_at) over (partition by practice_id) order by day, practice_id, hour",
            practice,
            if_none="there is no forecast: `vetl forecast` makes one",
        )

    def _rows(
        self, name: str, statement: str, practice: str | None = None, most: int | None = None, *, if_none: str = ""
    ) -> dict[str, Any]:
        """Return rows of a mart, at most as many as an answer has."""
        most = min(most or self.most, self.most)
        with reading(self.file, self.seen()) as read:
            chosen = [] if practice is None else with_ids(read, [Comparison("practice", "=", practice)])
            unmatched(read, "practices", chosen, {"practice": "practice_id"})
            of = conditions(chosen, {"practice": "practice_id"})
            found = read(f"{statement.format(of=of)} limit {most + 1}")
        rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows[:most]]
        notes = [f"only the first {most:,} rows are here"] if len(found.rows) > most else []
        notes += [if_none] if if_none and not rows else []
        return _json_value({name: rows, "notes": notes})

    def headlines(self) -> dict[str, Any]:
        """Return the unusual facts of now, the costliest first: words, first day, usual value, how sure."""
        news = "select * from marts.headlines where rank is not null order by rank"
        return self._rows("headlines", news, most=5)

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
                "notes": [*answer.notes, *answer.doubts][:_FEW],
                **_evidence(answer.evidence),
            }
        )

    def explain(
        self,
        figure: Annotated[str, Field(description="A mart and a column, such as practice_daily.calls")],
        practice: str | None = None,
        day: Day = None,
        where: Where = None,
        rows: Annotated[int | None, Field(ge=1, description="How many rows; a few without it")] = None,
    ) -> dict[str, Any]:
        """Show the rows that a figure of a mart counts, what proves them, and what may still change it."""
        most = min(rows or _FEW, self.most)
        question = replace(question_about(self.file, figure, practice), day=day, where=where or (), most=most)
        found = explain(self.file, question, self.seen())
        columns = zip(*found.rows, strict=True)
        filled = [place for place, values in enumerate(columns) if set(values) != {None}]
        answer = _json_value(
            {
                "figure": figure,
                "value": found.value,
                "unit": found.unit,
                "definition": found.definition,
                "rows_agree": found.agrees,
                "is_final": found.is_final,
                "may_change": found.may_change[:_FEW],
                "revisions": [asdict(one) for one in found.revisions[:_FEW]],
                "columns": [found.columns[place] for place in filled],
                "rows": [[row[place] for place in filled] for row in found.rows],
                **_evidence(found.certificates),
            }
        )
        return answer if rows else _shortened(answer)


def _subject(mart: str, dimensions: Sequence[str], usual: Sequence[str]) -> str:
    """Return a mart and the dimensions beside the usual ones, or those of the usual ones that it has."""
    more = [name for name in dimensions if name not in usual]
    fewer = [name for name in usual if name in dimensions]
    only = f", only by {', '.join([*fewer, *more])}" if len(fewer) < len(usual) else ""
    return mart + (only or (f", also by {', '.join(more)}" if more else ""))


def _shortened(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an explanation with so many of its lists, revisions and rows as are read at once."""
    for part, least in (("evidence", 2), ("revisions", 3), ("rows", 1)):
        while len(json.dumps(answer, indent=2)) > _SHORT and len(answer[part]) > least:
            answer[part].pop()
    return {**answer, "more": "the argument rows shows more rows"}


def server(tools: Tools, version: str, **more: Any) -> MCPServer:  # noqa: ANN401 - the SDK's own
    """Return the server with the tools. A question that vetl refuses becomes an error of its tool, in one line."""
    functions = (
        *(tools.list_metrics, tools.practices, tools.headlines, tools.describe),
        *(tools.ask, tools.explain, tools.call_back_list, tools.forecast),
    )
    made = [_tool(function) for function in functions]
    return MCPServer("vetl", version=version, instructions=INSTRUCTIONS, log_level="WARNING", tools=made, **more)


class _Tool(Tool):
    async def run(self, arguments: dict[str, Any], *more: Any, **options: Any) -> Any:  # noqa: ANN401 - the SDK's own
        """Run the tool; a wrong argument is one line, not the SDK's report."""
        try:
            self.fn_metadata.validate_arguments(arguments)
        except ValidationError as error:
            wrong = error.errors(include_url=False, include_input=False)[0]
            raise ToolError(f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}") from None
        return await super().run(arguments, *more, **options)


def _tool(function: Callable[..., dict[str, Any]]) -> Tool:
    """Return a tool that refuses unknown arguments; the SDK would answer as if they were not there."""
    only_reads = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
    description = " ".join((function.__doc__ or "").split())
    made = _Tool.from_function(_in_one_line(function), description=description, annotations=only_reads)
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
    return {"lists": len(by_age), "evidence": [asdict(one) for one in by_age[:_FEW]]}


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
