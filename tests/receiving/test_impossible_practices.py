"""A delivery may name anything as its practice: an id that no practice can have stops nothing."""

from pathlib import Path

from support.deliveries import body_of, message
from support.drain_side import NOW, Side
from support.lakes import storage

from pipelines.core.practice import problem_of_id
from pipelines.endpoints import REGISTRY
from pipelines.loading.lake.export import export_private
from pipelines.loading.warehouse import Warehouse
from pipelines.partner.webhooks import Channel
from pipelines.receiving.inbox import Entry

IDS = ("x" * 300, "loc\n001", "\0", "\u00e9" * 60, "a" * 80, "../../a", ".", "a/b c=%")


def test_no_id_of_a_practice_stops_the_export_of_the_lake(side: Side, tmp_path: Path) -> None:
    """An id that no practice can have is kept in quarantine; an earlier receiver let such ids into the inbox."""
    side.receive(("messages", message("m-2")))
    for number, practice in enumerate(IDS):
        side.receive(("messages", message(f"m-{number}", clinic_id=practice)))
        body = body_of(message(f"n-{number}", clinic_id=practice))
        side.inbox.keep([Entry(Channel.MESSAGES, practice, body, NOW)])
    possible = [practice for practice in IDS if problem_of_id(practice) is None]

    side.drain()

    assert side.rows("select distinct practice_id from raw.messages order by all") == [
        (practice,) for practice in sorted([*possible, "loc-001"])
    ]
    assert side.rows("select count(*) from control.quarantine") == [(2 * (len(IDS) - len(possible)),)]
    side.warehouse.close()
    assert export_private(side.path, storage(tmp_path / "lake"), lock_wait_seconds=0).rows > 0
    side.warehouse = Warehouse.open(side.path, REGISTRY, lock_wait_seconds=0)
