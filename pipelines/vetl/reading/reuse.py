"""Reuse the pages that discovery read in the first read of the list."""

from collections.abc import MutableMapping
from dataclasses import replace
from typing import Any, TypeVar

from vetl.core.errors import VetlError
from vetl.core.pages import Page
from vetl.core.steps import Plan, Query, ReadPage, SideBySide
from vetl.reading.conventions import contradiction

A = TypeVar("A")
Pages = MutableMapping[frozenset[tuple[str, str]], Page]
"""Pages by their query."""


def plain_query(query: Query) -> dict[str, str]:
    """Return a query with all of its values as text."""
    return {name: str(value) for name, value in query.items()}


def reusing(pages: Pages, running: Plan[A]) -> Plan[A]:
    """Run a plan, but answer its requests from `pages` if a page has their query, each page once.

    A certificate compares the totals and ids of its pages, so a page that was read a few requests earlier proves
    as much. A page that contradicts its own total may be torn and is requested again.
    """
    answer: Any = None
    failure: VetlError | None = None
    while True:
        try:
            step = running.send(answer) if failure is None else running.throw(failure)
        except StopIteration as finished:
            return finished.value
        answer, failure = None, None
        if isinstance(step, ReadPage) and (page := pages.pop(frozenset(plain_query(step.query).items()), None)):
            if not contradiction(page, step.number, step.size):
                answer = page
                continue
        elif isinstance(step, SideBySide):
            step = replace(step, readers=[reusing(pages, reader) for reader in step.readers])
        try:
            answer = yield step
        except VetlError as error:
            failure = error
