"""Check clients and patients, which are plain arrays without pages (contract: Clients and patients)."""

from collections.abc import Mapping, Sequence

from vetl.core.errors import RequestRefused
from vetl.core.pages import Page, Row
from vetl.core.steps import GetRecords, Plan, ReadPage, do
from vetl.discovery.report import Finding
from vetl.reading.rows import key_of

MOST_CLIENTS = 100
"""Most clients that one search returns (contract: Limits)."""
A_LETTER = "a"
NOBODY = "vetl-doctor-nobody"
SEARCHED = ("name", "email", "phone")

Findings = Plan[list[Finding]]


def check_clients(ids: Sequence[str]) -> Findings:
    """Get a client that other rows mention, and search for it by name, email and phone; report no values.

    A search that returns exactly `MOST_CLIENTS` may be cut off, so it does not prove that a client is missing.
    """
    got = yield from do(GetRecords(tuple(ids[:1])))
    client = next((row for row in got.values() if isinstance(row, Mapping)), None)
    return [_get(ids, client), *(yield from _searches(client)), *(yield from _cut())]


def _get(ids: Sequence[str], client: Row | None) -> Finding:
    if not ids:
        return Finding("clients", "get", "unknown", "", "no row mentions a client")
    if client is None:
        return Finding(
            "clients", "get", "note", "not found", "a client that a call mentions is not found by its id"
        )
    return Finding("clients", "get", "ok", "by id", "a client that a call mentions is there")


def _searches(client: Row | None) -> Findings:
    """Search by each field that the client has, and by a value that nobody has, for contrast."""
    findings: list[Finding] = []
    for name in SEARCHED:
        value = str((client or {}).get(name) or "")
        if client is None or not value:
            continue
        page = yield from _ask({name: value})
        nobody = yield from _ask({name: NOBODY})
        findings.append(_search(name, client, page, nobody))
    return findings


def _search(name: str, client: Row, page: Page | None, nobody: Page | None) -> Finding:
    check = f"search by {name}"
    if page is None:
        return Finding("clients", check, "note", "refused", f"a search by {name} is refused; vetl gets by id")
    if key_of(client) in {key_of(row) for row in page.rows}:
        if nobody is not None and key_of(client) in {key_of(row) for row in nobody.rows}:
            evidence = f"a search by a {name} that nobody has finds the client too; vetl gets by id"
            return Finding("clients", check, "note", "ignored", evidence)
        return Finding("clients", check, "ok", name, f"finds the client by its {name}, and not by another {name}")
    cut = len(page.rows) == MOST_CLIENTS
    evidence = f"finds {len(page.rows)} clients without the client that has this {name}; vetl gets by id"
    return Finding("clients", check, "note", "possibly cut" if cut else "not found", evidence)


def _cut() -> Findings:
    """Search by a common letter, to see whether results are cut off."""
    page = yield from _ask({"name": A_LETTER})
    if page is None:
        return []
    if len(page.rows) == MOST_CLIENTS:
        evidence = f"exactly {MOST_CLIENTS} found: possibly cut off, so vetl gets clients by id"
        return [Finding("clients", "search", "note", "possibly cut", evidence)]
    return [Finding("clients", "search", "ok", "whole", f"{len(page.rows)} found, fewer than {MOST_CLIENTS}")]


def check_patients(ids: Sequence[str]) -> Findings:
    """Check that a search by client returns the patients of that client only, for two clients (contract)."""
    owned = 0
    for client in ids[:2]:
        page = yield from _ask({"client_id": client})
        owned += page is not None and all(str(row.get("client_id")) == client for row in page.rows)
    if owned == 2:  # noqa: PLR2004 - two contrasting values
        return [Finding("patients", "client_id", "ok", "client_id", "two clients show their own patients only")]
    state = "unknown" if len(ids) < 2 else "note"  # noqa: PLR2004 - as above
    evidence = (
        "patients of other clients are shown; vetl gets them by id" if state == "note" else "too few clients"
    )
    return [Finding("patients", "client_id", state, "", evidence)]


def _ask(query: Mapping[str, str]) -> Plan[Page | None]:
    """Read the whole list, which has no pages; return `None` if the server refuses the query."""
    try:
        page = yield from do(ReadPage(query, 0, MOST_CLIENTS, lenient=True))
    except RequestRefused:
        return None
    return page
