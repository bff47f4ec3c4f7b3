"""`[report]`: the letter about a week, its recipients, and its ways."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, Field, SecretStr, model_validator

from vetl.settings.core_sections import OFF, Cron
from vetl.settings.section import Address, HttpAddress, Section, file_path


class Reader(Section):
    """`[[report.recipients]]`: a reader, the practices of the letter (none: all), and where it goes.

    `webhook`: a summary goes to the address of this reader in VETL_REPORT__WEBHOOKS.
    """

    name: str = Field(min_length=1, max_length=100, pattern=r"^[^\r\n=,]+$")
    practices: tuple[str, ...] = ()
    group: str | None = None
    to: tuple[Address, ...] = ()
    webhook: bool = False

    @model_validator(mode="after")
    def _one_choice(self) -> Self:
        if self.practices and self.group:
            msg = f"{self.name}: give practices or group, not both"
            raise ValueError(msg)
        return self


def file_name(reader: str) -> str:
    """Return the name of a reader's files, without a suffix."""
    return re.sub(r"\W+", "-", reader.lower()).strip("-")[:40] or "letter"


class ReportSettings(Section):
    """`[report]`: letters go by mail, to webhooks and into `folder`; `link` is the address of the dashboard."""

    secret_keys = ("webhooks",)

    recipients: tuple[Reader, ...] = ()
    link: HttpAddress | None = None
    folder: Annotated[Path, AfterValidator(file_path)] | None = None
    ledger: Annotated[Path, AfterValidator(file_path)] = Path("warehouse/data/letters.sqlite")
    webhooks: SecretStr | None = None

    def webhook_of(self, name: str) -> str | None:
        """Return the secret address of a reader: VETL_REPORT__WEBHOOKS has `name=https://...`, comma-separated."""
        pairs = (self.webhooks.get_secret_value() if self.webhooks else "").split(",")
        addresses = dict(pair.strip().split("=", 1) for pair in pairs if "=" in pair)
        return addresses.get(name)

    def places(self, name: str) -> Iterator[tuple[str, Path]]:
        """Yield the ledger; the folder may hold other files too."""
        yield f"{name}.ledger", self.ledger

    def practices_named(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield the practices of each reader."""
        for reader in self.recipients:
            yield f"recipients {reader.name}", reader.practices

    @model_validator(mode="after")
    def _different_names(self) -> Self:
        by_file: dict[str, str] = {}
        for item in self.recipients:
            other = by_file.get(file_name(item.name))
            if other is not None:
                twice = "is there twice" if other == item.name else f"would have the same files as {other}"
                msg = f"recipients: {item.name} {twice}"
                raise ValueError(msg)
            by_file[file_name(item.name)] = item.name
            if item.webhook and not self.webhook_of(item.name):
                msg = f"recipients: {item.name} has webhook = true, but VETL_REPORT__WEBHOOKS has no such name"
                raise ValueError(msg)
        return self


class LetterSchedule(Section):
    """`[schedule] letter`, which is off until somebody sets it."""

    letter: Cron = OFF
