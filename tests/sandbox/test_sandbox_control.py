"""The control interface and the handle: clock, switches, faults, writes, truth, requests.

The commands `python -m vetl_sandbox` and `vetl sandbox serve`.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from support.partner_side import Partner, Row


def control(partner: Partner, path: str, body: Row | None = None, method: str | None = None) -> Any:
    answer = partner.http.request(method or ("GET" if body is None else "POST"), f"/_control/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def test_the_clock_is_read_and_moved(partner: Partner) -> None:
    before = datetime.fromisoformat(control(partner, "clock")["now"])
    after = datetime.fromisoformat(control(partner, "clock", {"advance_seconds": 90})["now"])
    assert after - before == timedelta(seconds=90)
    assert partner.platform.now() == after


def test_switches_are_read_changed_and_reset(partner: Partner) -> None:
    assert control(partner, "switches")["staff_tasks"]["page_base"] == 0
    assert control(partner, "switches", {"staff_tasks": {"page_base": 1}})["staff_tasks"]["page_base"] == 1
    assert partner.page("staff_tasks")["page"] == 1
    assert control(partner, "switches", method="DELETE")["staff_tasks"]["page_base"] == 0


def test_faults_are_set_counted_and_taken_away(partner: Partner) -> None:
    control(partner, "faults", {"rules": [{"kind": "status", "status": 502}], "seed": 3})
    assert partner.get("staff_tasks").status_code == 502
    assert control(partner, "faults")["hits"] == {"status": 1}
    control(partner, "faults", method="DELETE")
    assert partner.get("staff_tasks").status_code == 200


def test_rows_are_inserted_updated_and_deleted(partner: Partner) -> None:
    """Other fields stay; clients must survive unknown fields, unknown values and wrong types."""
    before = partner.truth("staff_tasks")
    first, second = (row["id"] for row in before[:2])
    odd = {"status": "SNOOZED", "colour": "red", "finalized_at": "yesterday", "cancellation_allowed": "maybe"}
    changes = {"insert": [odd], "update": {first: {"title": "Changed"}}, "delete": [second]}
    done = control(partner, "mutate", {"practice_id": "loc-001", "list": "staff_tasks", **changes})
    read = {row["id"]: row for row in partner.everything("staff_tasks")}
    assert odd.items() <= read[done["inserted"][0]].items()
    assert read[first] == before[0] | {"title": "Changed", "updated_at": read[first]["updated_at"]}
    assert second not in read
    assert len(read) == len(before)


REPOSITORY = Path(__file__).parents[2]
SMALL = ("--practices", "2", "--days", "3")


@contextmanager
def started(*arguments: str, command: Sequence[str] = ("-m", "vetl_sandbox")) -> Generator[subprocess.Popen[str]]:
    whole = [sys.executable, *command, *arguments]
    process = subprocess.Popen(whole, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_it_says_one_line_of_json_once_it_answers_and_ends_on_interrupt() -> None:
    with started("--json", "--faults", "drifting", *SMALL) as process:
        assert process.stdout is not None
        description = json.loads(process.stdout.readline())
        assert list(description) == ["base_url", "username", "password", "role", "webhook_secret", "practices"]
        assert [list(practice) for practice in description["practices"]] == [["id", "name", "time_zone"]] * 2
        faults = httpx.get(f"{description['base_url']}/_control/faults").json()["data"]
        assert len(faults["rules"]) > 5
        assert "loc-002" in httpx.get(description["base_url"]).text
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")


def pasted(commands: list[str], folder: Path) -> str:
    here = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    script = "set -e\n" + "".join(commands)
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=os.environ | here, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_printed_commands_can_be_pasted(tmp_path: Path) -> None:
    """Its curl lines read calls; with its settings vetl reads a list."""
    with started(*SMALL, "--calls", "3000", command=("-m", "vetl", "sandbox", "serve")) as process:
        assert process.stdout is not None
        lines = list(iter(process.stdout.readline, "  vetl run\n"))
        curl, vetl = lines.index("With curl:\n"), lines.index("With vetl, in an empty folder:\n")
        page = json.loads(pasted(lines[curl + 1 : vetl], tmp_path))["data"]
        assert len(page["content"]) == 2
        assert page["total_count"] > 1400  # 120 without --calls
        sync = "vetl sync --endpoint staff_tasks --json"
        report = json.loads(pasted([*lines[vetl + 1 :], sync], tmp_path))
        assert "loc-002" in json.dumps(report)
