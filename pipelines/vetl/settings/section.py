"""Base model of the tables of `vetl.toml`."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """One table of `vetl.toml`; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)
