"""Sign-in failures of the platform: tokens that last for a few uses, refusals that pass."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from support.lying_proxy import lying
from support.sandbox_settings import at

from pipelines.core.errors import ConfigurationError, SignInRefused

Opened = Callable[..., Any]
SMALL = {"practices": 1, "calls": 60, "days": 6}
REFUSED = {"success": False, "data": None, "message": "no"}


def test_a_token_with_three_uses_reads_all_lists_and_is_reported(opened: Opened) -> None:
    practices = opened(practices=2, calls=60, days=6)
    uses: Counter[str] = Counter()

    def instead(_: str, authorization: str) -> tuple[int, dict[str, Any]] | None:
        uses[authorization] += 1
        return (401, REFUSED) if authorization and uses[authorization] > 3 else None

    with lying(practices.platform.base_url, instead=instead) as base_url:
        practices.settings = at(practices.settings, base_url)
        result = practices.sync()

    assert result.exit_code == 0
    assert practices.differences() == []
    assert result.sign_ins == len(uses) - 1  # and one entry for all sign-ins
    assert result.notes[0].startswith(f"signed in {result.sign_ins} times for ")


def test_a_refusal_of_credentials_that_worked_yesterday_passes(opened: Opened) -> None:
    practices = opened(**SMALL)
    answers: list[tuple[int, dict[str, Any]] | None] = [None, (200, REFUSED), (401, REFUSED), None]

    def instead(path: str, _: str) -> tuple[int, dict[str, Any]] | None:
        return answers.pop(0) if path.endswith("/sign-in") else None

    with lying(practices.platform.base_url, instead=instead) as base_url:
        practices.settings = at(practices.settings, base_url)
        first, second = practices.sync(endpoints=["staff_tasks"]), practices.sync(endpoints=["staff_tasks"])

    assert (first.exit_code, first.sign_ins) == (0, 1)
    assert (second.exit_code, second.sign_ins) == (0, 3)


def test_a_refusal_of_other_credentials_is_final_at_once(opened: Opened) -> None:
    """Credentials that worked before do not help here: repeating a wrong password could lock the account."""
    practices = opened(**SMALL)
    asked = 0

    def instead(path: str, _: str) -> None:
        nonlocal asked
        asked += path.endswith("/sign-in")

    with lying(practices.platform.base_url, instead=instead) as base_url:
        practices.settings = at(practices.settings, base_url)
        practices.sync(endpoints=["staff_tasks"])
        partner = practices.settings.partner.model_copy(update={"role": "STRANGER"})
        practices.settings = practices.settings.model_copy(update={"partner": partner})
        with pytest.raises(SignInRefused):
            practices.sync(endpoints=["staff_tasks"])

    assert asked == 2


def test_parameters_of_a_list_that_does_not_exist_are_refused(opened: Opened) -> None:
    practices = opened(**SMALL, parameters={"nope": {"start": "from"}})

    with pytest.raises(ConfigurationError, match=r"partner\.parameters\.nope: there is no such list; known are"):
        practices.sync()
