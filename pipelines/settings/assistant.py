"""`[assistant]`: the token of the server for assistants."""

from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr

from pipelines.settings.section import Section
from pipelines.settings.values import varied


class AssistantSettings(Section):
    """`[assistant]`: the token that a client of `vetl mcp --http` must send."""

    token: Annotated[SecretStr, Field(min_length=16), AfterValidator(varied)] | None = None
