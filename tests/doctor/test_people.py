"""The client search (contract: Clients and patients): by a known client's values, and whether it is cut."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from support.driven import driven, whole

from pipelines.core.errors import RequestRefused
from pipelines.discovery.people import check_clients
from pipelines.discovery.report import Finding

ADA = {"id": 7, "name": "Ada Lee", "email": "ada@example.com", "phone": "+15550100"}
OTHERS = [{"id": number, "name": f"Nan {number}", "phone": "+1"} for number in range(100, 300)]
Search = Callable[[Mapping[str, Any]], Sequence[Mapping[str, Any]]]


def contains(query: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    [(name, text)] = query.items()
    return [row for row in [*OTHERS, ADA] if text in str(row.get(name, ""))][:100]


def shows(rows: Sequence[Mapping[str, Any]]) -> Search:
    """Return a search that finds these clients for any request."""

    def search(_query: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        return rows

    return search


def refuses(query: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    if "email" in query:
        raise RequestRefused("no", status=400)
    return contains(query)


def findings(search: Search, *, client: Mapping[str, Any] | None = ADA) -> dict[str, Finding]:
    found, _ = driven(check_clients(["7"]), lambda query: whole(search(query)), record=client)
    return {finding.check: finding for finding in found}


def test_a_search_that_finds_a_known_client_and_nobody_else_is_proven() -> None:
    by_check = findings(contains)

    assert {check: finding.state for check, finding in by_check.items()} == {
        "get": "ok",
        "search by name": "ok",
        "search by email": "ok",
        "search by phone": "ok",
        "search": "note",
    }


@pytest.mark.parametrize(
    ("search", "check", "outcome"),
    [
        (refuses, "search by email", "refused"),
        (shows([ADA]), "search by name", "ignored"),
        (shows([]), "search by phone", "not found"),
        (shows(OTHERS[:100]), "search by name", "possibly cut"),
        (shows(OTHERS[:100]), "search", "possibly cut"),
        (shows(OTHERS[:101]), "search", "whole"),
        (shows(OTHERS[:99]), "search", "whole"),
    ],
)
def test_a_wrong_search_is_reported(search: Search, check: str, outcome: str) -> None:
    finding = findings(search)[check]

    assert finding.found == outcome
    assert not [text for text in ADA.values() if str(text) in finding.evidence.split()]


def test_without_a_client_nothing_is_searched_for() -> None:
    by_check = findings(contains, client=None)

    assert list(by_check) == ["get", "search"]
    assert by_check["get"].found == "not found"
