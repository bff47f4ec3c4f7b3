"""Clients that are independent of this project read the sandbox whole."""

import json
import subprocess
import sys
from pathlib import Path

from support.partner_side import Partner

SCRIPT = Path(__file__).parents[1] / "support" / "read_with_dlt.py"
LISTS = {"phone_calls", "booking_sessions", "appointments", "ai_outbound", "staff_tasks"}


def test_dlts_own_source_reads_the_five_lists_whole(partner: Partner, tmp_path: Path) -> None:
    token = str(partner.http.headers["Authorization"]).removeprefix("Bearer ")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), partner.platform.base_url, token, partner.practice_id],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)
    assert set(read) == LISTS
    for name, ids in read.items():
        there = [row["id"] for row in partner.truth(name)]
        assert len(there) > 100
        assert sorted(ids) == sorted(there)
