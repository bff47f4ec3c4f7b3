"""The rules of the contract as tests: each holds on the sandbox, and fails on a sandbox that is broken for it.

`@rule(section)` makes a check the test of a rule, `@broken_by` or `@broken_as` defines its break. It runs once on
the correct sandbox, and once with each break, when it must fail by an assertion of its own. `@rule` may be
stacked: `says` then names the rules, and its other arguments are those of the check. `@rules` is a table of them.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import signature
from typing import Any, Final, Literal, TypeVar

import pytest
from support.contract_breaks import Break

from sandbox import Handle

Section = Literal[
    "What the service does", "Resources / Message", "Resources / Message content", "Resources / Card",
    "Resources / Button", "Resources / AI outbound request", "Resources / Phone call record",
    "Resources / Booking session", "Resources / Appointment", "Resources / Staff task",
    "Resources / Client and patient", "States / Message", "States / AI outbound request", "States / Staff task",
    "States / Booking session", "States / Phone call state and appointment status", "Endpoints",
    "Endpoints / Sign-in", "Endpoints / Create a message", "Endpoints / Get a message",
    "Endpoints / AI outbound requests", "Endpoints / List requests", "Endpoints / Get a request",
    "Endpoints / List phone calls", "Endpoints / List phone calls, CSV", "Endpoints / Get a phone call",
    "Endpoints / Booking sessions", "Endpoints / List appointments", "Endpoints / Create an appointment",
    "Endpoints / Staff tasks", "Endpoints / Clients and patients", "Authentication", "Events",
    "Events / Message status webhook", "Events / AI outbound outcome webhook",
    "Events / Service reminder webhook", "Errors", "Limits", "Versioning",
]  # fmt: skip
"""The headings of the contract's sections with rules."""

_CRASHED: Final = 500
Breaks = Callable[..., tuple[Break, ...]]
Check = TypeVar("Check", bound=Callable[..., None])


@dataclass(frozen=True)
class Rule:
    """One rule: its section, its name and its arguments among the rules of one check."""

    section: Section
    says: str
    given: Mapping[str, Any]

    def id_of(self, number: int | None) -> str:
        """Return the name of the test: of the correct sandbox, or of a broken one."""
        name = f"{self.section.rpartition(' / ')[2]}: {self.says}".removesuffix(": ")
        return name if number is None else f"{name}, broken {number + 1}"


def rule(section: Section, says: str = "", **given: Any) -> Callable[[Check], Check]:
    """Make a check the test of a rule."""
    mark = pytest.mark.rule(Rule(section, says, given))

    def decorate(check: Check) -> Check:
        return pytest.mark.usefixtures("broken")(mark(check))

    return decorate


def rules(section: Section, names: str, *rows: Sequence[Any]) -> Callable[[Check], Check]:
    """Make a check the test of the rules of a section: each row has the rule's name, and the values of `names`."""

    def decorate(check: Check) -> Check:
        for says, *values in reversed(rows):
            check = rule(section, says, **dict(zip(names.split(), values, strict=True)))(check)
        return check

    return decorate


def broken_by(*breaks: Break) -> pytest.MarkDecorator:
    """Add a break that a check must notice."""
    return pytest.mark.breaks.with_args(_always(breaks))


def broken_as(of: Callable[[Any], Break | tuple[Break, ...]]) -> pytest.MarkDecorator:
    """Add breaks that a check must notice, made from one argument of its rule."""
    (name,) = signature(of).parameters

    def breaks(**given: Any) -> tuple[Break, ...]:
        made = of(given[name])
        return made if isinstance(made, tuple) else (made,)

    return pytest.mark.breaks.with_args(breaks)


def _always(breaks: tuple[Break, ...]) -> Breaks:
    def of(**_: Any) -> tuple[Break, ...]:
        return breaks

    return of


def rules_of(marks: list[pytest.Mark]) -> list[tuple[Rule, tuple[Break, ...]]]:
    """Return the rules among the marks of a test, in the order of the page, with the breaks of each."""
    breaks: Breaks = next((mark.args[0] for mark in marks if mark.name == "breaks"), _always(()))
    found: list[Rule] = [mark.args[0] for mark in reversed(marks) if mark.name == "rule"]
    return [(one, breaks(**one.given)) for one in found]


def generate(metafunc: pytest.Metafunc) -> None:
    """Make the tests of a check: for each rule the correct sandbox, then each broken one."""
    found = rules_of(metafunc.definition.own_markers[::-1])
    if not found:
        return
    names = list(found[0][0].given)
    cases = [
        pytest.param(broken, *(one.given[name] for name in names), id=one.id_of(number))
        for one, breaks in found
        for number, broken in [(None, None), *enumerate(breaks)]
    ]
    metafunc.parametrize(["broken", *names], cases, indirect=["broken"])


@contextmanager
def noticed(broken: Break, platform: Handle) -> Generator[None]:
    """Require that a check on a broken sandbox fails, and by an assertion rather than by a crash."""
    with broken(platform), pytest.raises(AssertionError):
        yield
    crashed = [seen.path for seen in platform.requests.log if seen.status == _CRASHED]
    assert not crashed, f"the break does not break the rule, but the sandbox: {crashed}"
