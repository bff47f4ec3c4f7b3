"""vetl works without any of its addons: the core knows none."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from vetl.hooks import BUILT_IN

SCRIPT = """
import json, sys
from vetl import hooks
hooks.BUILT_IN.remove(sys.argv[1])
from vetl.cli.app import execute
from vetl.cli.commands import lines
from vetl.settings import section_models
print(json.dumps([sorted(lines()), sorted(section_models())]), flush=True)
assert execute(["--help"]) == 0
"""


@pytest.mark.parametrize("name", BUILT_IN)
def test_help_and_settings_without_it(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, name], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    commands, sections = json.loads(done.stdout.splitlines()[0])

    assert {"run", "status", "forget"} <= set(commands)
    assert {"partner", "warehouse", "practices"} - {"practices"} <= set(sections)
