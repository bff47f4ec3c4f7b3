"""The few shapes of JSON schema that the description is made of."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

Schema = dict[str, Any]

TEXT: Final[Schema] = {"type": "string"}
FLAG: Final[Schema] = {"type": "boolean"}
INTEGER: Final[Schema] = {"type": "integer"}
INSTANT: Final[Schema] = {"type": "string", "format": "date-time"}
OPEN: Final[Schema] = TEXT | {"description": "The contract does not show the allowed values."}
DAY: Final[Schema] = {"type": "string", "format": "date"}
PHONE: Final[Schema] = {"type": "string", "pattern": r"^\+[1-9][0-9]{6,14}$", "examples": ["+12125550123"]}


def choice(values: Sequence[str], **more: Any) -> Schema:  # noqa: ANN401 - keywords of JSON schema
    """Return a string that is one of a few."""
    return {"type": "string", "enum": list(values), **more}


def text(most: int | None = None, **more: Any) -> Schema:  # noqa: ANN401 - keywords of JSON schema
    """Return a string of limited length."""
    return TEXT | ({} if most is None else {"maxLength": most}) | more


def uri(schemes: Sequence[str] = ("https",)) -> Schema:
    """Return an absolute URI with one of some schemes."""
    return {
        "type": "string",
        "format": "uri",
        "pattern": f"^({'|'.join(schemes)})://",
        "examples": [f"{schemes[0]}://partner.example.com/path"],
    }


def nullable(schema: Schema) -> Schema:
    """Return the same schema, or null."""
    if "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    more = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return schema | more | {"type": [schema["type"], "null"]}


def array(items: Schema, least: int | None = None, most: int | None = None) -> Schema:
    """Return a list of limited length."""
    limits = {"minItems": least, "maxItems": most}
    return {
        "type": "array",
        "items": items,
        **{name: value for name, value in limits.items() if value is not None},
    }


def record(fields: Mapping[str, Schema]) -> Schema:
    """Return an object of an answer: always all of these fields, and no other field."""
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }


def body(fields: Mapping[str, Schema], required: Sequence[str] = (), **more: Any) -> Schema:  # noqa: ANN401 - keywords
    """Return an object of a request: null counts as missing, and fields beyond these are ignored."""
    properties = {name: schema if name in required else nullable(schema) for name, schema in fields.items()}
    return {
        "type": "object",
        "properties": properties,
        **({"required": list(required)} if required else {}),
        **more,
    }


def ref(name: str) -> Schema:
    """Return a reference to a schema by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def envelope(data: Schema) -> Schema:
    """Return the success envelope (contract: "What the service does", 7)."""
    return record({"success": {"const": True}, "data": data, "message": nullable(TEXT)})
