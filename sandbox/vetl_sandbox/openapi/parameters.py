"""Query parameters, with the names and rules that the switches give them."""

from typing import Any, Final

from vetl_sandbox.contract import CSV_DEFAULT_SIZE, DEFAULT_SIZE
from vetl_sandbox.openapi.shapes import DAY, FLAG, INTEGER, TEXT, Schema, array, choice
from vetl_sandbox.resources.registry import RESOURCES
from vetl_sandbox.switches import ListSwitches, Switches
from vetl_sandbox.world import vocabulary as v

Parameter = dict[str, Any]
_MOST: Final = 999_999_999
_WHOLE_DAY: Final = "YYYY-MM-DD, inclusive, whole day in the practice's time zone"
_BOUND: Final[Schema] = {"type": "string", "anyOf": [{"format": "date-time"}, {"format": "date"}]}


def query(name: str, schema: Schema, description: str = "", *, required: bool = False) -> Parameter:
    """Return one query parameter."""
    described = {"description": description} if description else {}
    return {"name": name, "in": "query", "required": required, "schema": schema, **described}


def in_path(description: str) -> Parameter:
    """Return the id in a path."""
    return {"name": "id", "in": "path", "required": True, "schema": TEXT | {"minLength": 1}} | {
        "description": description
    }


def list_parameters(name: str, switches: Switches) -> list[Parameter]:
    """Return the parameters of a list with switches."""
    of = switches.for_list(name)
    resource = RESOURCES[name]
    parameters: list[Parameter] = []
    if resource.has_range:
        bound = DAY if of.instants == "refused" else _BOUND
        how = f"bounds {of.bounds}, by {of.granularity}, days in {of.day_zone}"
        parameters.append(query(of.start, bound, f"Start of updated_at; {how}", required=of.start_required))
        parameters.append(query(of.end, bound, f"End; {of.default_end} if not given"))
    if resource.statuses:
        schema = choice(resource.statuses) if of.unknown_status == "refuse" else TEXT
        parameters.append(query(of.status, schema, f"Only these; another value: {of.unknown_status}"))
    return [*parameters, *_paging(of, min(DEFAULT_SIZE, of.maximum_size), of.maximum_size)]


def call_parameters(switches: Switches) -> list[Parameter]:
    """Return the parameters of the list of phone calls."""
    of, most = switches.phone_calls, switches.csv_maximum_size
    sizes = f"JSON: {DEFAULT_SIZE} unless asked, at most {of.maximum_size}; CSV: {CSV_DEFAULT_SIZE}"
    page, size = _paging(of, DEFAULT_SIZE, most)
    size["description"] = f"{sizes}, at most {most}"
    del size["schema"]["default"]
    return [
        query("start_date", DAY, _WHOLE_DAY),
        query("end_date", DAY, _WHOLE_DAY),
        query("direction", choice(v.DIRECTIONS.values)),
        query("state", choice(v.CALL_STATES.values)),
        query("outcome", TEXT, "An outcome; repeat as outcome[] to match any"),
        query("outcome[]", array(TEXT), "Outcomes, any of which is to match") | {"style": "form", "explode": True},
        query("call_classification", choice(v.CLASSIFICATIONS.values)),
        query(
            switches.booking_intent_parameter, FLAG, "Whether the caller wanted to book or change an appointment"
        ),
        query(switches.client_parameter, TEXT, "Only calls that were matched to this client"),
        page,
        size,
        query("format", choice(("csv", "json")), "csv for an attachment; so does Accept: text/csv"),
    ]


def client_parameters() -> list[Parameter]:
    """Return the parameters of the list of clients."""
    rule = "At least one of name, email and phone is required."
    return [query("name", TEXT, f"A part of the name. {rule}"), query("email", TEXT), query("phone", TEXT)]


def patient_parameters() -> list[Parameter]:
    """Return the parameters of the list of patients."""
    return [query("client_id", TEXT | {"minLength": 1}, required=True), query("name", TEXT, "A part of the name")]


def day_parameters() -> list[Parameter]:
    """Return the parameters of the sandbox's open times."""
    return [
        query("start_date", DAY, "The first local day; today if not given"),
        query("end_date", DAY, "The last one, at most 31 days later; six days later if not given"),
    ]


def _paging(of: ListSwitches, default: int, maximum: int) -> tuple[Parameter, Parameter]:
    """Return page and page size. A size over the maximum is no error if the list makes it smaller."""
    most = maximum if of.over_large == "refuse" else _MOST
    numbers = INTEGER | {"minimum": of.page_base, "maximum": _MOST, "default": of.page_base}
    sizes = INTEGER | {"minimum": 1, "maximum": most, "default": default}
    return (
        query(of.page, numbers, f"The first page is {of.page_base}"),
        query(of.per_page, sizes, f"At most {maximum}; a larger one: {of.over_large}"),
    )
