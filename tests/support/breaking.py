"""Ways to break the sandbox on purpose, each for as long as a block lasts."""

import inspect
import textwrap
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from types import CodeType, FunctionType
from typing import Any

import pytest

from sandbox import Handle

Break = Callable[[Handle], AbstractContextManager[None]]


def edited(function: Callable[..., Any], old: str, new: str) -> Break:
    """The same function with one fragment of its source replaced, wherever it has been imported to.

    Fails when it is applied where the source no longer holds the fragment, or holds it twice: it is out of date.
    """
    assert isinstance(function, FunctionType)

    @contextmanager
    def apply(platform: Handle) -> Generator[None]:  # noqa: ARG001 - see Break
        right = function.__code__
        function.__code__ = _compiled(function, old, new)
        try:
            yield
        finally:
            function.__code__ = right

    return apply


def replaced(owner: object, name: str, wrong: object) -> Break:
    """Another value under a name of a module or a class."""

    @contextmanager
    def apply(platform: Handle) -> Generator[None]:  # noqa: ARG001 - see Break
        right = inspect.getattr_static(owner, name)
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
