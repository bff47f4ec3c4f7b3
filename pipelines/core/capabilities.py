"""What one server was seen to do with one list: a result for each query parameter, kept between syncs.

Contract, Endpoints: names of the date range, page and page size, and on some lists whether pages count from zero,
are "not shown". So each parameter has one of three results. `honoured`: it was seen to change an answer as it
should. `ignored`: it was seen to change none, under any name that was tried. `undecided`: the list was too short,
or moved too much, to tell. What is undecided or ignored is asked again at the next sync; what is written in
`vetl.toml` is asked anew whenever it changes; and `reconcile --full` asks everything anew.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from pipelines.core.endpoint import QueryNames


class Result(StrEnum):
    """What a parameter was found to do."""

    HONOURED = "honoured"
    IGNORED = "ignored"
    UNDECIDED = "undecided"


Key = Literal["start", "end", "per_page", "page", "status"]
KEYS: tuple[Key, ...] = ("start", "end", "per_page", "page", "status")


class Parameter(BaseModel):
    """One query parameter. `name` is the one in use, `configured` what the settings said when it was asked for.

    `base`: the number of the first page. `size`: the rows of the largest page. `bounds`: the finest that a start
    and an end tell apart, kept with the start; of a start that is ignored, the form in which it is required, and
    of an end beside such a start, the form in which it is taken.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    configured: str
    result: Result = Result.UNDECIDED
    base: int | None = None
    size: int | None = None
    bounds: Literal["instant", "day"] | None = None


class Capabilities(BaseModel):
    """What is known of one list: the parameters by their keys, as `control.capabilities` keeps them."""

    model_config = ConfigDict(frozen=True)

    parameters: dict[Key, Parameter]

    @classmethod
    def of(cls, stored: Mapping[str, Any], configured: QueryNames) -> "Capabilities":
        """What is stored and was asked under the names that are configured now; all else is undecided."""
        return cls(parameters={key: _parameter(stored.get(key), getattr(configured, key)) for key in KEYS})

    @property
    def names(self) -> QueryNames:
        """The names in use."""
        return QueryNames(**{key: item.name for key, item in self.parameters.items()})

    def result(self, key: Key) -> Result:
        """What a parameter was found to do."""
        return self.parameters[key].result

    def overruled(self, defaults: QueryNames) -> list[str]:
        """What is to be said of names that the settings chose, where the server honours others."""
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
