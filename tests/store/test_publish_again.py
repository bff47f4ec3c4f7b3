"""What the next publication does: nothing for the same build, and no file that has lost most of its rows."""

import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from support.warehouse_with_rows import ask
from vetl.core.errors import WarehouseError
from vetl.core.published_file import Treatment, Treatments
from vetl.publishing.digests import verify
from vetl.publishing.last_publication import PublicationRecord
from vetl.publishing.publication import Published, publish
from vetl.store.notes import read_note, write_note

PII: Treatments = {"clients": {"name": "hash"}, "call_back_list": {}}


class Marts:
    """A private file with builds of two marts, and its published file."""

    def __init__(self, folder: Path) -> None:
        self.private, self.target = folder / "vetl.duckdb", folder / "analytics.duckdb"
        self.builds = 0
        self.run("create schema marts; create schema control;")
        self.run("create table control.builds (build_id varchar, is_complete boolean)")
        self.build(100)

    def run(self, statements: str) -> None:
        with duckdb.connect(str(self.private)) as connection:
            connection.execute(statements)

    def build(self, clients: int, *, complete: bool = True) -> None:
        self.builds += 1
        self.run(
            f"create or replace table marts.clients as select id, 'Ann ' || id as name"
            f" from range({clients}) as ids (id);"
            "create or replace view marts.call_back_list as"
            f" select id from marts.clients where id % {self.builds} = 0;"
            f"delete from control.builds; insert into control.builds values ('{self.builds}', {complete})"
        )

    def publish(self, key: str | None = "key", pii: Treatments = PII, *, accept_loss: bool = False) -> Published:
        return publish(self.private, self.target, pii=pii, pii_key=key, accept_loss=accept_loss)

    def note(self, record: object) -> None:
        write_note(self.private, "publication", record)


@pytest.fixture
def marts(tmp_path: Path) -> Marts:
    return Marts(tmp_path)


def test_publishing_twice_brings_nothing(marts: Marts) -> None:
    first = marts.publish()
    before = marts.target.stat()

    assert marts.publish() == first
    after = marts.target.stat()  # a read may have changed the access time
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


DOUBTS: dict[str, Callable[[Marts], object]] = {
    "another build": lambda marts: marts.build(100),
    "a build that left models out": lambda marts: marts.build(100, complete=False),
    "another file in its place": lambda marts: marts.target.write_bytes(b""),
    "no file": lambda marts: marts.target.unlink(),
    "no record": lambda marts: marts.note(None),
    "a record that cannot be parsed": lambda marts: marts.note([]),
}


@pytest.mark.parametrize("doubt", DOUBTS)
def test_in_doubt_the_file_is_written_again(marts: Marts, doubt: str) -> None:
    marts.publish()
    before = marts.target.stat().st_mtime_ns
    DOUBTS[doubt](marts)
    marts.publish()

    assert marts.target.stat().st_mtime_ns != before
    assert ask(marts.target, "select count(*) from marts.clients") == [(100,)]
    assert verify(marts.target).different == ()


@pytest.mark.parametrize(
    ("key", "treatment"), [("key", "null"), ("key", "clear"), ("another", "hash"), (None, "hash")]
)
def test_another_treatment_masks_everything_again(marts: Marts, key: str | None, treatment: Treatment) -> None:
    marts.publish()
    before = ask(marts.target, "select name from marts.clients order by id")
    marts.publish(key, {**PII, "clients": {"name": treatment}})

    after = ask(marts.target, "select name from marts.clients order by id")
    assert all(one != other for one, other in zip(before, after, strict=True))


def test_the_record_does_not_reveal_the_key(marts: Marts) -> None:
    marts.publish("a secret")

    record = read_note(marts.private, "publication")
    assert "secret" not in json.dumps(record)
    assert record.keys() == set(PublicationRecord.__slots__)


def test_a_mart_that_lost_most_rows_is_published_only_when_asked(marts: Marts) -> None:
    """A list that is worked through, such as `call_back_list`, may be empty at the next build."""
    marts.publish()
    before = marts.target.read_bytes()
    marts.build(49)
    with pytest.raises(WarehouseError, match=r"marts\.clients lost most rows \(100 to 49\); .*--accept-loss"):
        marts.publish()
    assert marts.target.read_bytes() == before

    assert marts.publish(accept_loss=True).tables["clients"] == 49
    marts.build(45)
    assert marts.publish().tables["clients"] == 45
