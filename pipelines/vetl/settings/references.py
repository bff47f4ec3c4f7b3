"""Check that practices which other sections name are configured."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vetl.settings import Settings


def unconfigured(settings: "Settings") -> str | None:
    """Return the line about a practice that a section names and that is not configured, or `None`."""
    configured = {item.id for item in settings.practices}
    for key, practices in _named(settings):
        if unknown := set(practices) - configured:
            return f"{key}: practice {min(unknown)} is not configured"
    return None


def _named(settings: "Settings") -> Iterator[tuple[str, Sequence[str]]]:
    yield "act.practices", settings.act.practices
    yield "act.text_practices", settings.act.text_practices
    for number, threshold in enumerate(settings.watch.thresholds):
        yield f"watch.thresholds[{number}].practices", threshold.practices
    for reader in settings.report.recipients:
        yield f"report.recipients {reader.name}", reader.practices
    for name, user in settings.dashboard.users.items():
        yield f"dashboard.users.{name}", user.practices
