"""JSON bodies: read field by field; every fault is collected under its dotted path (contract: Errors)."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

from vetl_sandbox.server.envelopes import FieldError, Invalid

_E164: Final = re.compile(r"\+[1-9]\d{6,14}", re.ASCII)


class Body:
    """A JSON object of a request; `path` is its place in the body. Null counts as missing."""

    def __init__(self, fields: dict[str, Any], path: str = "", errors: list[FieldError] | None = None) -> None:
        self._fields = fields
        self._path = path
        self._errors = [] if errors is None else errors

    def has(self, name: str) -> bool:
        """Return whether a field is given."""
        return self._fields.get(name) is not None

    def fault(self, name: str | None, message: str) -> None:
        """Note something wrong with a field, or with this object as a whole."""
        path = ".".join(part for part in (self._path, name) if part)
        self._errors.append(FieldError(path or None, message))

    def fault_anywhere(self, field: str | None, message: str) -> None:
        """Note something wrong under a path of its own."""
        self._errors.append(FieldError(field, message))

    def finish(self) -> None:
        """Raise Invalid if there was a fault."""
        if self._errors:
            raise Invalid(self._errors)

    def text(self, name: str, *, required: bool = False, most: int | None = None) -> str | None:
        """Return a string that is not empty."""
        value = self._fields.get(name)
        if value is None or value == "":
            if required:
                self.fault(name, f"{name} is required")
            return None
        if not isinstance(value, str):
            self.fault(name, f"{name} must be a string")
            return None
        if most is not None and len(value) > most:
            self.fault(name, f"{name} must be at most {most} characters")
        return value

    def choice(self, name: str, allowed: Sequence[str], *, required: bool = False) -> str | None:
        """Return a string that must be one of a few."""
        value = self.text(name, required=required)
        if value is not None and value not in allowed:
            self.fault(name, f"{name} must be one of: {', '.join(allowed)}")
            return None
        return value

    def uri(self, name: str, schemes: Sequence[str] = ("https",), *, required: bool = False) -> str | None:
        """Return an absolute URI with one of some schemes."""
        value = self.text(name, required=required)
        if value is None:
            return None
        try:
            parts = urlsplit(value)
        except ValueError:
            parts = None
        if parts is None or parts.scheme not in schemes or not parts.hostname:
            self.fault(name, f"{name} must be an absolute {' or '.join(schemes)} URI")
            return None
        return value

    def phone(self, name: str, *, required: bool = False) -> str | None:
        """Return a telephone number in E.164."""
        value = "" if self._fields.get(name) == "" else self.text(name, required=required)
        if value is not None and not _E164.fullmatch(value):
            self.fault(name, f"{name} must be a telephone number in E.164, such as +12125550123")
            return None
        return value

    def integer(self, name: str) -> int | None:
        """Return a whole number."""
        value = self._fields.get(name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            self.fault(name, f"{name} must be an integer")
            return None
        return value

    def instant(self, name: str) -> datetime | None:
        """Return a date and time in ISO 8601; UTC if it has no offset."""
        value = self.text(name)
        if value is None:
            return None
        try:
            parsed = datetime.fromisoformat(value)
            return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            self.fault(name, f"{name} must be an ISO 8601 date-time")
            return None

    def child(self, name: str, *, required: bool = False) -> "Body | None":
        """Return an object."""
        value = self._fields.get(name)
        if value is None:
            if required:
                self.fault(name, f"{name} is required")
            return None
        if not isinstance(value, dict):
            self.fault(name, f"{name} must be an object")
            return None
        return Body(value, self._below(name), self._errors)

    def children(self, name: str, most: int, least: int = 0) -> list["Body"]:
        """Return an array of objects with a limited number of items."""
        value = self._fields.get(name)
        if value is None:
            value = []
        if not isinstance(value, list):
            self.fault(name, f"{name} must be an array")
            return []
        if not least <= len(value) <= most:
            self.fault(name, f"{name} must have {f'{least} to ' if least else 'at most '}{most} items")
        children: list[Body] = []
        for place, item in enumerate(value):
            if isinstance(item, dict):
                children.append(Body(item, self._below(f"{name}.{place}"), self._errors))
            else:
                self.fault(f"{name}.{place}", f"{name}.{place} must be an object")
        return children

    def _below(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name
