"""A delivery may name anything as its practice: an id that no practice can have stops nothing."""

from pathlib import Path

import pytest
from support.deliveries import body_of, message
from support.drain_side import NOW, Side
from support.lakes import storage

from pipelines.core.practice import problem_of_id
from pipelines.endpoints import REGISTRY
from pipelines.loading.lake.export import export_private
from pipelines.loading.warehouse import Warehouse
from pipelines.partner.webhooks import Channel
from pipelines.receiving.inbox import Entry


@pytest.mark.parametrize(
    "practice", ["x" * 300, "loc\n001", "\0", "\u00e9" * 60, "a" * 80, "../../a", ".", "a/b c=%"]
)
def test_no_id_of_a_practice_stops_the_export_of_the_lake(side: Side, practice: str, tmp_path: Path) -> None:
    """An id that no practice can have is kept in quarantine; an earlier receiver let such ids into the inbox."""
    side.receive(("messages", message(clinic_id=practice)), ("messages", message("m-2")))
    body = body_of(message("m-3", clinic_id=practice))
    side.inbox.keep([Entry(Channel.MESSAGES, practice, body, NOW)])
    is_possible = problem_of_id(practice) is None

    side.drain()

    assert side.rows("select count(*) from raw.messages where practice_id = 'loc-001'") == [(1,)]
    assert side.rows("select count(*) from control.quarantine") == [(0 if is_possible else 2,)]
    side.warehouse.close()
    lake = export_private(side.path, storage(tmp_path / "lake"), lock_wait_seconds=0)
    assert lake.rows > 0
    side.warehouse = Warehouse.open(side.path, REGISTRY, lock_wait_seconds=0)
