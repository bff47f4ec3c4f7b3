"""The rules of the contract: no section is without, none is there twice, and all can fail."""

import runpy
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
from support.breaking import edited, switched
from support.partner_side import Partner
from support.rules import Rule, Section, noticed, rule, rules_of

from sandbox import Handle

FILES = sorted(Path(__file__).parent.glob("test_contract_*.py"))


@pytest.fixture(scope="module")
def found() -> list[tuple[str, Rule]]:
    """Every rule of the suite, with the name of its check."""
    return [
        (f"{file.stem}::{name}", one)
        for file in FILES
        if file.name != Path(__file__).name
        for name, check in runpy.run_path(str(file)).items()
        if name.startswith("test_")
        for one in rules_of(getattr(check, "pytestmark", []))
    ]


def test_no_section_of_the_contract_is_without_a_rule(found: list[tuple[str, Rule]]) -> None:
    stated = Counter(one.section for _, one in found)
    assert [section for section in get_args(Section) if not stated[section]] == []
    assert set(stated) <= set(get_args(Section))


def test_every_rule_has_a_name_of_its_own(found: list[tuple[str, Rule]]) -> None:
    named = Counter((name, one.section, one.says) for name, one in found)
    assert [name for name, times in named.items() if times > 1] == []
    assert len(named) > 300


def test_every_test_of_the_contract_is_one_of_rules() -> None:
    for file in FILES:
        if file.name != Path(__file__).name:
            tests = {n: c for n, c in runpy.run_path(str(file)).items() if n.startswith("test_") and callable(c)}
            assert [n for n, check in tests.items() if not rules_of(getattr(check, "pytestmark", []))] == []


def test_a_rule_without_a_break_cannot_be_written() -> None:
    with pytest.raises(AssertionError, match="nothing breaks"):
        rule("Errors", says="whatever")


def test_a_break_that_is_out_of_date_is_noticed(platform: Handle) -> None:
    broken = edited("clock:VirtualClock.advance", "a line that was there once", "")
    with pytest.raises(pytest.fail.Exception, match="write its break anew"), broken(platform):
        pass


def test_a_break_that_crashes_the_sandbox_proves_nothing(partner: Partner) -> None:
    broken = edited("server.records:_body", "found is None", "nothing_of_this_name is None")
    with pytest.raises(AssertionError, match="but the sandbox"), noticed(broken, partner.platform):
        assert partner.get("phone_calls/x").status_code == 404


def test_a_check_that_does_not_notice_the_break_fails(platform: Handle) -> None:
    with (
        pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"),
        noticed(switched(auto_accept=False), platform),
    ):
        """A check that looks at nothing."""
