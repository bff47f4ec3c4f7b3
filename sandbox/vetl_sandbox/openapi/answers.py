"""Answers: envelopes of success, lists and errors (contract: "What the service does", 7; Errors)."""

from typing import Any, Final

from vetl_sandbox.contract import CSV_COLUMNS
from vetl_sandbox.openapi.shapes import FLAG, INTEGER, TEXT, Schema, array, envelope, nullable, record, ref
from vetl_sandbox.switches import Switches

Answer = dict[str, Any]
_REASONS: Final = {
    400: "Invalid: every offending field is named",
    401: "Missing or invalid token",
    403: "Not this partner's practice",
    404: "There is none",
    410: "Withdrawn",
    429: "More than 120 messages within a minute",
    500: "Internal server error",
    501: "Withdrawn",
    502: "The messaging provider is briefly unavailable; try again with the same reference_id",
}


def error_schemas() -> dict[str, Schema]:
    """Return the schemas of general errors and validation errors."""
    at_fault = record(
        {"field": nullable(TEXT | {"description": "A dotted path; null: the request"}), "message": TEXT}
    )
    failed = {"success": FLAG | {"const": False}, "message": TEXT}
    return {
        "Error": record(failed),
        "ValidationError": record(
            failed | {"data": record({"message": TEXT, "errors": array(at_fault, least=1)})}
        ),
    }


def answer(description: str, data: Schema) -> Answer:
    """Return a success with its envelope."""
    return {"description": description, "content": {"application/json": {"schema": envelope(data)}}}


def page_of(name: str, *, total_pages: bool = True) -> Schema:
    """Return one page of a list."""
    whole = INTEGER | {"minimum": 0}
    totals = {"total_pages": whole} if total_pages else {}
    return record({"page": whole, "per_page": whole, **totals, "total_count": whole, "content": array(ref(name))})


def csv_page() -> Answer:
    """Return the part that the CSV of calls adds to an answer."""
    whole = {"schema": INTEGER | {"minimum": 0}}
    names = ("X-Total-Count", "X-Page", "X-Per-Page", "X-Total-Pages")
    return {
        "description": "One page of calls. The headers come with the CSV, an attachment",
        "headers": dict.fromkeys(names, whole),
        "content": {
            "application/json": {"schema": envelope(page_of("PhoneCall"))},
            "text/csv": {
                "schema": TEXT | {"description": f"Columns: {', '.join(CSV_COLUMNS)}"},
            },
        },
    }


def errors(switches: Switches, *statuses: int, acts_for_practice: bool = True) -> dict[str, Answer]:
    """Return the errors of an operation: its own, and those that every operation has."""
    codes = {*statuses, 400, 401}
    if acts_for_practice:
        codes |= {switches.missing_practice_status, 403}
    return {str(status): _error(status) for status in sorted(codes)}


def _error(status: int) -> Answer:
    schema = {"anyOf": [ref("ValidationError"), ref("Error")]} if status == 400 else ref("Error")  # noqa: PLR2004 - the status
    return {"description": _REASONS[status], "content": {"application/json": {"schema": schema}}}
