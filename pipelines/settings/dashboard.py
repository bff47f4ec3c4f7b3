"""`[dashboard]`: the address of the dashboard, and its access."""

from ipaddress import ip_address
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator

from pipelines.settings.values import network, no_boolean, varied

_THIS_MACHINE = ("127.0.0.0/8", "::1/128")


class DashboardSettings(BaseModel):
    """The address of the dashboard; beyond this machine it needs a password, or a proxy that signs people in.

    `user_header` is accepted only from `proxies`, or from this machine if only this machine can reach the
    dashboard.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    host: str = "127.0.0.1"
    port: Annotated[int, BeforeValidator(no_boolean)] = Field(default=8501, ge=0, le=65535)
    password: Annotated[SecretStr, AfterValidator(varied)] | None = None
    user_header: str | None = Field(default=None, pattern=r"^[A-Za-z0-9-]+$")
    proxies: tuple[Annotated[str, AfterValidator(network)], ...] = ()

    @model_validator(mode="after")
    def _not_open_to_everybody(self) -> Self:
        if is_local(self.host):
            return self
        if self.user_header and not self.proxies:
            msg = (
                f"host {self.host} is more than this machine: name in proxies the addresses of the proxies that "
                "set user_header, as everybody else could set that header too"
            )
            raise ValueError(msg)
        if not (self.password or self.user_header):
            msg = (
                f"host {self.host} is more than this machine: set VETL_DASHBOARD__PASSWORD in the environment, "
                "or user_header and proxies if a proxy signs people in"
            )
            raise ValueError(msg)
        return self

    def trusted(self) -> tuple[str, ...]:
        """Return the addresses and networks from which `user_header` is accepted."""
        return self.proxies or (_THIS_MACHINE if is_local(self.host) else ())


def is_local(host: str) -> bool:
    """Return whether only this machine can reach a server on that host."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
