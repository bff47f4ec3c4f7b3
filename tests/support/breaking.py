"""Ways to break the sandbox on purpose, each for as long as a block lasts."""

import inspect
import textwrap
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pkgutil import resolve_name
from types import CodeType, FunctionType
from typing import Any

import pytest

from sandbox import Handle

Break = Callable[[Handle], AbstractContextManager[None]]


def edited(function: str, old: str, new: str) -> Break:
    """A function with one fragment of its source replaced, wherever it has been imported to.

    `function` is an object reference within the sandbox, such as `"messages.store:Messages.find"`. Fails where the
    source does not hold the fragment exactly once when the break is applied: it is out of date.
    """

    @contextmanager
    def apply(platform: Handle) -> Generator[None]:  # noqa: ARG001 - see Break
        broken = resolve_name(f"sandbox.{function}")
        right = broken.__code__
        broken.__code__ = _compiled(broken, old, new)
        try:
            yield
        finally:
            broken.__code__ = right

    return apply


def replaced(constant: str, wrong: object) -> Break:
    """Another value under a name of a module, given as for `edited`."""
    module, _, name = constant.partition(":")

    @contextmanager
    def apply(platform: Handle) -> Generator[None]:  # noqa: ARG001 - see Break
        owner = resolve_name(f"sandbox.{module}")
        right = getattr(owner, name)
        setattr(owner, name, wrong)
        try:
            yield
        finally:
            setattr(owner, name, right)

    return apply


def switched(**switches: Any) -> Break:
    """Other switches, where the contract does show what the sandbox lets one choose."""

    @contextmanager
    def apply(platform: Handle) -> Generator[None]:
        platform.set(**switches)
        yield

    return apply


def _compiled(function: FunctionType, old: str, new: str) -> CodeType:
    source = textwrap.dedent(inspect.getsource(function))
    found = source.count(old)
    if found != 1:
        pytest.fail(f"{function.__qualname__} holds {old!r} {found} times: write its break anew")
    made: dict[str, Any] = {}
    exec(source.replace(old, new), function.__globals__, made)
    return made[function.__name__].__code__
