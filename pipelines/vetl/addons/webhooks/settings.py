"""`[webhooks]`: the address on which the receiver listens, and whom it trusts."""

from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr

from vetl.settings.section import Network, Port, Section, varied_each


class ReceiverSettings(Section):
    """`proxies`: addresses and networks whose `X-Forwarded-For` is believed."""

    secret_keys = ("secrets",)

    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    port: Port = 8090
    proxies: tuple[Network, ...] = ()
    secrets: Annotated[SecretStr, AfterValidator(varied_each)] | None = None
