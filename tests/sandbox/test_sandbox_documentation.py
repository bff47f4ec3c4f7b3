"""docs/sandbox.md compared with the code: every switch with its default, every fault, every path of control."""

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from sandbox.faults import KINDS
from sandbox.server.control import ROUTES
from sandbox.switches import ListSwitches, Switches
from sandbox.webhooks.faults import KINDS as WEBHOOK_KINDS

CODE = re.compile(r"`([^`]+)`")
PAGE = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text()
LISTS = {"phone_calls", "booking_sessions", "appointments", "ai_outbound", "staff_tasks"}


def rows(head: str) -> list[list[str]]:
    """Return the cells of all tables with this head."""
    cells: list[list[str]] = []
    for part in PAGE.split(head)[1:]:
        lines = part.splitlines()[2:]
        end = next((place for place, line in enumerate(lines) if not line.startswith("|")), len(lines))
        cells += [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[:end]]
    return cells


def shown(value: Any) -> str:
    if isinstance(value, str):
        return "`" + value.replace("\n", "\\n") + "`"
    return json.dumps(value) if value is None or isinstance(value, bool) else f"{value}"


def test_the_tables_have_every_switch_with_its_default() -> None:
    defaults: dict[str, Any] = {}
    for of in (ListSwitches(), Switches()):
        defaults |= {field.name: getattr(of, field.name) for field in fields(of) if field.name not in LISTS}
    documented = rows("| gap | switch | default | others |")
    assert sorted(name for _, names, *_ in documented for name in CODE.findall(names)) == sorted(defaults)
    for _, names, default, _ in documented:
        for name in CODE.findall(names):
            value = defaults[name]
            wanted = f"`{json.dumps(value)}`" if isinstance(value, tuple | dict) else shown(value)
            assert wanted in default, name


@pytest.mark.parametrize(
    ("head", "kinds"),
    [("| fault | effect |", KINDS), ("| kind | effect |", WEBHOOK_KINDS)],
    ids=["of the interface", "of webhooks"],
)
def test_the_tables_have_every_fault(head: str, kinds: tuple[str, ...]) -> None:
    documented = [kind for cells in rows(head) for kind in CODE.findall(cells[0])]
    assert sorted(documented) == sorted(kinds)


def test_every_path_of_control_is_named() -> None:
    assert [route.path for route in ROUTES if f"/_control{route.path}" not in PAGE] == []
