"""`[assistant]`: the port and the token of the server for assistants."""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from pipelines.settings.section import Section
from pipelines.settings.values import no_boolean, varied


class AssistantSettings(Section):
    """`[assistant]`: the port of `vetl mcp --http`, and the token that its clients must send."""

    port: Annotated[int, BeforeValidator(no_boolean)] = Field(default=8765, ge=1, le=65535)
    token: Annotated[SecretStr, Field(min_length=16), AfterValidator(varied)] | None = None
