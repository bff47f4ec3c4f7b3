"""`[webhooks]`: the address on which the receiver listens, and whom it trusts."""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from vetl.settings.section import Section, network, no_boolean, varied_each


class ReceiverSettings(Section):
    """`proxies`: addresses and networks whose `X-Forwarded-For` is believed."""

    secret_keys = ("secrets",)

    host: str = "127.0.0.1"
    port: Annotated[int, BeforeValidator(no_boolean), Field(ge=0, le=65535)] = 8090
    proxies: tuple[Annotated[str, AfterValidator(network)], ...] = ()
    secrets: Annotated[SecretStr, AfterValidator(varied_each)] | None = None
