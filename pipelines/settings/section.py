"""What every table of `vetl.toml` has in common."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """One table of `vetl.toml`. A key that it does not know is an error, never silence."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)
