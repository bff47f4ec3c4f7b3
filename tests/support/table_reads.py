"""Counts the table reads of a statement if views and common table expressions are expanded at every use."""

import re
from collections.abc import Mapping
from typing import Any

_EXPRESSION = re.compile(r"^(?:with )?(\w+) as \($", re.MULTILINE)
_READ = re.compile(r"\b(?:from|join)\s+\(?\s*([\w.\"]+)")


def reads(models: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return by relation (`schema.name`) the table reads of an engine that expands everything, as Spark does.

    `models` are dbt's nodes by relation, compiled; a model that is no view is one table.
    """
    counts: dict[str, int] = {}

    def of_model(name: str) -> int:
        if name not in counts:
            counts[name] = _of_statement(models[name]["compiled_code"], of_relation)
        return counts[name]

    def of_relation(name: str) -> int:
        short = ".".join(name.replace('"', "").split(".")[-2:])
        is_view = short in models and models[short]["config"]["materialized"] == "view"
        return of_model(short) if is_view else 1

    return {name: of_model(name) for name in models}


def _of_statement(sql: str, of_relation: Any) -> int:
    first, *rest = _EXPRESSION.split(re.sub(r"'[^']*'", "''", re.sub(r"--.*", "", sql)))
    if not rest:
        return sum(of_relation(name) for name in _READ.findall(first))
    weights: dict[str, int] = {}

    def of_text(text: str) -> int:
        return sum(weights.get(name) or of_relation(name) for name in _READ.findall(text))

    *bodies, last = rest[1::2]
    body, _, answer = last.partition("\n)\n")
    for name, text in zip(rest[::2], [*bodies, body], strict=True):
        weights[name] = max(1, of_text(text))
    return of_text(answer)
