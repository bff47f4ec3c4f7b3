"""The description as one page of HTML, without anything from elsewhere."""

from collections.abc import Mapping
from html import escape
from typing import Any, Final

from sandbox.openapi.shapes import Schema
from sandbox.server.style import page, table

_METHODS: Final = ("get", "post", "put", "delete")
_LIMITS: Final = {"maxLength": "at most {} characters", "minItems": "at least {}", "maxItems": "at most {}",
                  "minimum": "from {}", "maximum": "to {}", "default": "default {}", "const": "{}"}  # fmt: skip
_UNTOLD: Final = 999_999_999


def rendered(description: dict[str, Any]) -> str:
    """The page."""
    info = description["info"]
    links = {
        "What is inside": "/",
        "openapi.json": "/openapi.json",
        "Webhooks": "#webhooks",
        "Schemas": "#schemas",
    }
    sections = "".join(_section(tag["name"], description["paths"]) for tag in description["tags"])
    told = "".join(
        _operation("post", f"{name} webhook", of["post"]) for name, of in description["webhooks"].items()
    )
    schemas = "".join(_schema(name, schema) for name, schema in description["components"]["schemas"].items())
    return page(
        f"{info['title']} {info['version']}",
        escape(info["description"]),
        links,
        f'{sections}<h2 id="webhooks">Webhooks</h2>{told}<h2 id="schemas">Schemas</h2>{schemas}',
    )


def _section(tag: str, paths: Mapping[str, Any]) -> str:
    shown = "".join(
        _operation(method, path, of[method], of.get("parameters", []))
        for path, of in paths.items()
        for method in _METHODS
        if method in of and tag in of[method]["tags"]
    )
    return f'<h2 id="{escape(tag)}">{escape(tag)}</h2>{shown}'


def _operation(method: str, path: str, told: Mapping[str, Any], shared: list[Any] | None = None) -> str:
    parts = [f"<p>{escape(told['description'])}</p>"] if "description" in told else []
    takes = [*told.get("parameters", []), *(shared or [])]
    if takes:
        rows = [
            [_name(of["name"], required=of.get("required", False)), of["in"], _type(of["schema"]), _says(of)]
            for of in takes
        ]
        parts.append("<h3>Parameters</h3>" + table(["Name", "In", "Type", "Rules"], rows))
    if "requestBody" in told:
        parts.append(f"<h3>Body</h3><p>{_content(told['requestBody'])}</p>")
    answers = [
        [f"<code>{status}</code>", escape(of["description"]), _content(of)]
        for status, of in sorted(told["responses"].items())
    ]
    parts.append("<h3>Answers</h3>" + table(["Status", "When", "Body"], answers))
    return (
        "<details><summary>"
        f'<span class="method {method}">{method.upper()}</span>'
        f"<code>{escape(path)}</code><span>{escape(told['summary'])}</span></summary>"
        f'<div class="inside" id="{escape(told["operationId"])}">{"".join(parts)}</div></details>'
    )


def _content(told: Mapping[str, Any]) -> str:
    return "<br>".join(
        f'{_type(of["schema"])} <span class="soft">{escape(kind)} {_about(of["schema"])}</span>'
        for kind, of in told.get("content", {}).items()
    )


def _about(schema: Schema) -> str:
    return escape(schema.get("description", ""))


def _schema(name: str, schema: Schema) -> str:
    required = schema.get("required", ())
    rows = [
        [_name(field, required=field in required), _type(of), _says({"schema": of})]
        for field, of in schema["properties"].items()
    ]
    about = f"<p>{escape(schema['description'])}</p>" if "description" in schema else ""
    return (
        f'<details><summary><code>{name}</code></summary><div class="inside" id="{name}">{about}'
        f"{table(['Field', 'Type', 'Rules'], rows)}</div></details>"
    )


def _name(name: str, *, required: bool) -> str:
    return f"<code>{escape(name)}</code>{' <b>required</b>' if required else ''}"


def _type(schema: Schema) -> str:
    """What a value is, in a few words; references lead to their schema."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema and "type" not in schema:
        return " or ".join(_type(of) for of in schema["anyOf"])
    if "items" in schema:
        return f"array of {_type(schema['items'])}"
    if {"success", "data"} <= set(schema.get("properties", ())):
        return f"envelope of {_type(schema['properties']['data'])}"
    if "content" in schema.get("properties", ()):
        return f"page of {_type(schema['properties']['content']['items'])}"
    kinds = schema.get("type", "constant")
    told = " or ".join([kinds] if isinstance(kinds, str) else kinds)
    return escape(f"{told}, {schema['format']}" if "format" in schema else told)


def _says(told: Mapping[str, Any]) -> str:
    schema = told["schema"]
    parts = [told.get("description") or schema.get("description", "")]
    if "enum" in schema:
        parts.append("one of " + ", ".join(str(value) for value in schema["enum"] if value is not None))
    parts += [
        wording.format(schema[name])
        for name, wording in _LIMITS.items()
        if name in schema and schema[name] != _UNTOLD
    ]
    return escape("; ".join(part for part in parts if part))
