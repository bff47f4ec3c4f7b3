"""The query parameters that a server honours on a list: a result for each of them, stored between syncs.

The contract (Endpoints) does not show the names of the date range, the page and the page size, nor on some lists
whether pages count from zero. So each parameter has one of three results:

- `honoured`: it changed an answer as it should.
- `ignored`: it changed no answer under any name that was tried.
- `undecided`: the list was too short, or changed too much, for a result.

The next sync examines undecided and ignored parameters again, a change in `vetl.toml` the parameter that it names,
and `reconcile --full` all of them.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from vetl.core.endpoint import QueryNames


class Result(StrEnum):
    """The result for one parameter."""

    HONOURED = "honoured"
    IGNORED = "ignored"
    UNDECIDED = "undecided"


Key = Literal["start", "end", "per_page", "page", "status"]
KEYS: tuple[Key, ...] = ("start", "end", "per_page", "page", "status")


class Parameter(BaseModel):
    """One query parameter: `name` is in use, `configured` was the name in the settings at the examination.

    `base` is the number of the first page, `size` the rows of the largest page. `bounds` is the precision of a
    start and an end, stored with the start. If the start is ignored, `bounds` is the form in which the server
    requires it; for an end beside such a start, the form in which the server accepts it.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    configured: str
    result: Result = Result.UNDECIDED
    base: int | None = None
    size: int | None = None
    bounds: Literal["instant", "day"] | None = None


class Capabilities(BaseModel):
    """The parameters of one list by their keys, as `control.capabilities` stores them."""

    model_config = ConfigDict(frozen=True)

    parameters: dict[Key, Parameter]

    @classmethod
    def of(cls, stored: Mapping[str, Any], configured: QueryNames) -> "Capabilities":
        """Return the stored results that hold for the names configured now; all other parameters are undecided."""
        return cls(parameters={key: _parameter(stored.get(key), getattr(configured, key)) for key in KEYS})

    @property
    def names(self) -> QueryNames:
        """Return the names in use."""
        return QueryNames(**{key: item.name for key, item in self.parameters.items()})

    def result(self, key: Key) -> Result:
        """Return the result for a parameter."""
        return self.parameters[key].result

    def overruled(self, defaults: QueryNames) -> list[str]:
        """Return a line for each name in the settings that the server does not honour while it honours another."""
        return [
            f'{key} = "{item.configured}" in vetl.toml is not honoured, "{item.name}" is, and is used'
            for key, item in self.parameters.items()
            if item.result is Result.HONOURED and item.configured not in (item.name, getattr(defaults, key))
        ]


def _parameter(stored: Any, configured: str) -> Parameter:  # noqa: ANN401 - JSON as it was stored
    try:
        parameter = Parameter.model_validate(stored)
    except ValidationError:
        return Parameter(name=configured, configured=configured)
    return parameter if parameter.configured == configured else Parameter(name=configured, configured=configured)
