"""`[assistant]`: the port and the tokens of the server for assistants."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, SecretStr, model_validator

from vetl.settings.section import Section, Whole, varied, varied_each

_FEWEST = 16
"""The fewest characters of a token."""


class AssistantSettings(Section):
    """`[assistant]`: the port of `vetl mcp --http`, and the token that its clients must send.

    `tokens` are those of the users of `[dashboard]`, each with their practices: `anna=...,ben=...`.
    """

    secret_keys = ("token", "tokens")

    port: Whole = Field(default=8765, ge=1, le=65535)
    token: Annotated[SecretStr, Field(min_length=_FEWEST), AfterValidator(varied)] | None = None
    tokens: Annotated[SecretStr, AfterValidator(varied_each)] | None = None

    def users_by_token(self) -> dict[str, str]:
        """Return the user of each token."""
        pairs = (self.tokens.get_secret_value() if self.tokens else "").split(",")
        return {
            token: name for name, _, token in (pair.strip().partition("=") for pair in pairs) if name and token
        }

    @model_validator(mode="after")
    def _each_token_is_of_one_user(self) -> Self:
        written = self.tokens.get_secret_value() if self.tokens else ""
        users = self.users_by_token()
        for token, name in users.items():
            if len(token) < _FEWEST:
                msg = f"tokens: that of {name} must have {_FEWEST} characters or more"
                raise ValueError(msg)
        if written and len(users) != len(written.split(",")):
            msg = "tokens: write name=token, separated by commas, each token once"
            raise ValueError(msg)
        return self
