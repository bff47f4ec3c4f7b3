"""`[dashboard]`: where the dashboard listens, and who may see it."""

from ipaddress import ip_address
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator

from pipelines.settings.values import no_boolean


class DashboardSettings(BaseModel):
    """Where the dashboard listens; beyond this machine only behind a password or a proxy that signs people in."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    host: str = "127.0.0.1"
    port: Annotated[int, BeforeValidator(no_boolean)] = Field(default=8501, ge=0, le=65535)
    password: SecretStr | None = None
    user_header: str | None = Field(default=None, pattern=r"^[A-Za-z0-9-]+$")

    @model_validator(mode="after")
    def _not_open_to_everybody(self) -> Self:
        if not (is_local(self.host) or self.password or self.user_header):
            msg = (
                f"host {self.host} is more than this machine: set VETL_DASHBOARD__PASSWORD in the environment, "
                "or user_header where a proxy signs people in"
            )
            raise ValueError(msg)
        return self


def is_local(host: str) -> bool:
    """Whether only this machine can reach what listens there."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
