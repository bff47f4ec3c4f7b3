"""`[dashboard]`: the address of the dashboard, and its access."""

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator

from vetl.settings.checked_values import file_path, network, no_boolean, varied
from vetl.settings.section import Section

_THIS_MACHINE = ("127.0.0.0/8", "::1/128")


class DashboardUser(Section):
    """`[dashboard.users.<name>]`: the practices that a user sees: some, those of groups, or all."""

    practices: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    all: bool = False

    @model_validator(mode="after")
    def _has_practices(self) -> Self:
        if self.all == bool(self.practices or self.groups):
            msg = "give practices or groups, or all = true"
            raise ValueError(msg)
        return self


class DashboardSettings(Section):
    """The address of the dashboard; beyond this machine it needs a password, or a proxy that signs people in.

    `user_header` is accepted only from `proxies`, or from this machine if only this machine can reach the
    dashboard. If there are `users`, nobody else sees anything: a user signs in with a password of the file
    `passwords`, or is named by the header. `audit` gets a line for each list of people that a user was shown,
    `marks` how calls back ended.
    """

    secret_keys = ("password",)
    private_keys = ("passwords", "audit", "marks")

    host: str = "127.0.0.1"
    port: Annotated[int, BeforeValidator(no_boolean)] = Field(default=8501, ge=0, le=65535)
    password: Annotated[SecretStr, AfterValidator(varied)] | None = None
    user_header: str | None = Field(default=None, pattern=r"^[A-Za-z0-9-]+$")
    proxies: tuple[Annotated[str, AfterValidator(network)], ...] = ()
    users: dict[str, DashboardUser] = Field(default_factory=dict[str, DashboardUser])
    passwords: Annotated[Path, AfterValidator(file_path)] = Path("warehouse/data/dashboard.passwords")
    audit: Annotated[Path, AfterValidator(file_path)] = Path("warehouse/data/dashboard.audit.jsonl")
    marks: Annotated[Path, AfterValidator(file_path)] = Path("warehouse/data/call-back-marks.sqlite")
    session_hours: Annotated[float, BeforeValidator(no_boolean), Field(gt=0, le=720)] = 12

    @model_validator(mode="after")
    def _limits_access(self) -> Self:
        if self.users and self.password:
            msg = "password and users exclude each other: unset VETL_DASHBOARD__PASSWORD; each user has their own"
            raise ValueError(msg)
        if is_local(self.host):
            return self
        if self.user_header and not self.proxies:
            msg = (
                f"host {self.host} is more than this machine: name in proxies the addresses of the proxies that "
                "set user_header, as everybody else could set that header too"
            )
            raise ValueError(msg)
        if not (self.password or self.user_header or self.users):
            msg = (
                f"host {self.host} is more than this machine: set VETL_DASHBOARD__PASSWORD in the environment, "
                "or user_header and proxies if a proxy signs people in"
            )
            raise ValueError(msg)
        return self

    def practices_named(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield the practices of each user."""
        for name, user in self.users.items():
            yield f"users.{name}", user.practices

    def practices_by_user(self, groups: Mapping[str, str | None]) -> dict[str, list[str] | None]:
        """Return the practices of each user by id, `None` for all; `groups` has the group of each practice."""
        return {
            name: None
            if user.all
            else [key for key, group in groups.items() if key in user.practices or group in user.groups]
            for name, user in self.users.items()
        }

    def trusted(self) -> tuple[str, ...]:
        """Return the addresses and networks from which `user_header` is accepted."""
        return self.proxies or (_THIS_MACHINE if is_local(self.host) else ())


def is_local(host: str) -> bool:
    """Return whether only this machine can reach a server on that host."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
