"""The rules of the contract: every section has one, none exists twice, and all can fail."""

import runpy
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
from support.contract_breaks import switched
from support.partner_side import Partner
from support.rules import Rule, Section, noticed, rules_of

from sandbox import Handle

FILES = sorted(Path(__file__).parent.glob("test_contract_*.py"))


@pytest.fixture(scope="module")
def rules() -> list[tuple[str, Rule]]:
    """Return every rule of the suite, with the name of its check."""
    return [
        (f"{file.stem}::{name}", one)
        for file in FILES
        if file.name != Path(__file__).name
        for name, check in runpy.run_path(str(file)).items()
        if name.startswith("test_")
        for one, _ in rules_of(getattr(check, "pytestmark", []))
    ]


def test_no_section_of_the_contract_is_without_a_rule(rules: list[tuple[str, Rule]]) -> None:
    stated = Counter(one.section for _, one in rules)
    assert [section for section in get_args(Section) if not stated[section]] == []
    assert set(stated) <= set(get_args(Section))


def test_every_rule_has_a_name_of_its_own(rules: list[tuple[str, Rule]]) -> None:
    named = Counter((name, one.section, one.says) for name, one in rules)
    assert [name for name, times in named.items() if times > 1] == []
    assert len(named) > 300


def test_every_test_of_the_contract_is_one_of_rules_that_something_breaks() -> None:
    for file in FILES:
        if file.name != Path(__file__).name:
            tests = {n: c for n, c in runpy.run_path(str(file)).items() if n.startswith("test_") and callable(c)}
            rules = {name: rules_of(getattr(check, "pytestmark", [])) for name, check in tests.items()}
            assert [name for name, of in rules.items() if not of or not all(breaks for _, breaks in of)] == []


def test_a_break_that_crashes_the_sandbox_proves_nothing(
    partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(partner.platform.platform, "table", crash)
    with pytest.raises(AssertionError, match="but the sandbox"), noticed(switched(), partner.platform):
        assert partner.get("phone_calls/x").status_code == 404


def test_a_check_that_does_not_notice_the_break_fails(platform: Handle) -> None:
    with (
        pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"),
        noticed(switched(auto_accept=False), platform),
    ):
        """A check that asserts nothing."""
