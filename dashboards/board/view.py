"""The view that the parts of a page are drawn from: the file, the scope, and the words."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import quote

import polars as pl
from vetl.core.errors import WrongUse
from vetl.core.published_file import schema_of
from vetl.figures.ask import MetricQuestion

from board.charts import shortened
from board.config import Config
from board.published import REBUILD, MissingError, Published
from board.scope import Scope
from board.words import FEW, Words, named, without_code

Column = tuple[str, str]
"""A mart and one of its columns: the definition of a figure."""

NULL = "null"
"""The value of a dimension in comparisons, if rows have none."""


@dataclass(frozen=True, slots=True)
class View:
    """The file, the scope and the words of a page, the settings, and who looks."""

    file: Published
    scope: Scope
    words: Words
    config: Config
    user: str
    for_managers: bool

    def ask(
        self, sql: str, more: Mapping[str, Any] | None = None, *, before: bool = False, lasting: bool = False
    ) -> pl.DataFrame:
        """Return a statement's rows; it may use the parameters of the scope, and `more`.

        Raises:
            MissingError: The file has no such mart or column.
        """
        parameters = {**self.scope.parameters(before=before, lasting=lasting), **(more or {})}
        return self.file.ask(sql, **{name: value for name, value in parameters.items() if f"${name}" in sql})

    def rates(
        self, metric: str, where: Sequence[str] = (), window: str | None = None, *, before: bool = False
    ) -> dict[str, tuple[int, int]]:
        """Return the two counts of a rate by practice, as `vetl metric` counts them; of the days of a window.

        Raises:
            MissingError: The file has no such metric.
        """
        days, prefix = self.scope.parameters(before=before), f"{window}_" if window else ""
        question = MetricQuestion(
            metric,
            ("practice",),
            where,
            days[f"{prefix}since"],
            days[f"{prefix}until"],
            practices=days["practices"],
        )
        try:
            rows = self.file.metric(question).rows
        except WrongUse:
            raise MissingError(
                f"This file has no metric `{metric}`: an older vetl published it. {REBUILD}"
            ) from None
        return {row[0]: (int(row[1] or 0), int(row[2] or 0)) for row in rows}

    def define(self, column: Column, *, links: bool = True) -> str:
        """Return the catalogue's words for a figure; for analysts its mart and column, too."""
        link = self._link(column) if links else ""
        text = self.file.definitions().get(column, "This file does not say what it counts.")
        if self.for_managers:
            return f"{without_code(' '.join(text.split()))}{link}"
        named = f"`{schema_of(column[0])}.{column[0]}.{column[1]}`"
        return f"{' '.join(text.split())}  \n{named}{link}"

    def _link(self, column: Column) -> str:
        """Return a link to the rows behind a figure in this period; none if the file does not declare them."""
        if column not in explained_columns(self):
            return ""
        days = f"period=own&from={self.scope.since}&to={self.scope.until}"
        practices = "".join(f"&practice={quote(practice.id)}" for practice in self.scope.practices)
        return f" [rows behind it](rows?{days}{practices}&figure={column[0]}.{column[1]})"

    def said(self, dimension: str, value: str) -> str:
        """Return a value of a dimension in words."""
        if dimension == "practice":
            return next((practice.name for practice in self.scope.chosen if practice.id == value), value)
        with suppress(ValueError):
            return self.words.day(date.fromisoformat(value))
        return named(None if value == NULL else value)

    def named(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return a table by `practice_id` with the practice's own name in the first column instead."""
        names = {practice.id: practice.name for practice in self.scope.chosen}
        name = pl.col("practice_id").replace_strict(names, default=None, return_dtype=pl.String).alias("practice")
        return table.select(name, pl.exclude("practice_id"))

    def short(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return a table with names of practices that fit beside a chart."""
        short = shortened([practice.name for practice in self.scope.chosen])
        return table.with_columns(pl.col("practice").replace(short))

    @property
    def few(self) -> int:
        """The number of cases below which a share says little: `[definitions] small_sample`."""
        return self.file.setting("small_sample", FEW)


def explained_columns(view: View) -> list[Column]:
    """Return the marts and columns whose rows the file declares; none if an older vetl published it."""
    try:
        rows = view.file.ask(
            """select table_name, column_name from meta.catalogue
               where counting is not null or counted_as in (select metric from meta.metrics) order by all"""
        )
    except MissingError:
        return []
    return [(mart, column) for mart, column in rows.iter_rows()]
