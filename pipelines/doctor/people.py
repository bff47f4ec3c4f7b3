"""Clients and patients: plain arrays, asked by what is known of a client (contract: Clients and patients)."""

from collections.abc import Generator, Sequence
from typing import Any

from pipelines.doctor.asking import ask
from pipelines.doctor.finding import Finding
from pipelines.pages import Page, Row
from pipelines.steps import GetRecords, Step

MOST_CLIENTS = 100
"""Clients that one search returns at most (contract: Limits)."""
A_LETTER = "a"

Found = Generator[Step, Any, list[Finding]]


def check_clients(ids: Sequence[str]) -> Found:
    """A client that other rows mention can be got, and found by name; a search that was possibly cut is told."""
    some = yield from ask({"name": A_LETTER})
    if some is None:
        return [Finding("clients", "search", "note", "refused", "a search by name is refused; vetl gets by id")]
    findings = [_search(some)]
    got: dict[str, Row | None] = yield GetRecords(tuple(ids[:1]))
    found = [row for row in got.values() if row is not None]
    if not ids:
        findings.append(Finding("clients", "get", "unknown", "", "no row mentions a client"))
    elif not found:
        evidence = "a client that a call mentions is not found by its id"
        findings.append(Finding("clients", "get", "note", "not found", evidence))
    else:
        findings.append(Finding("clients", "get", "ok", "by id", "a client that a call mentions is there"))
    return findings


def _search(page: Page) -> Finding:
    if len(page.rows) == MOST_CLIENTS:
        evidence = f"exactly {MOST_CLIENTS} are found: possibly cut, so vetl gets clients by id"
        return Finding("clients", "search", "note", "possibly cut", evidence)
    return Finding("clients", "search", "ok", "by name", f"{len(page.rows)} are found, fewer than {MOST_CLIENTS}")


def check_patients(ids: Sequence[str]) -> Found:
    """The patients of two clients are theirs; without a client the request is refused (contract)."""
    owned = 0
    for client in ids[:2]:
        page = yield from ask({"client_id": client})
        owned += page is not None and all(str(row.get("client_id")) == client for row in page.rows)
    if owned == 2:  # noqa: PLR2004 - two contrasting values
        return [Finding("patients", "client_id", "ok", "client_id", "two clients show their own patients only")]
    state = "unknown" if len(ids) < 2 else "note"  # noqa: PLR2004 - as above
    evidence = (
        "patients of other clients are shown; vetl gets them by id" if state == "note" else "too few clients"
    )
    return [Finding("patients", "client_id", state, "", evidence)]
