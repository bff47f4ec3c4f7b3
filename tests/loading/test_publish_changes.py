"""A published file of the previous build is changed like the marts, and then equals a full copy."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.warehouse_with_rows import ask
from vetl.core.privacy import Treatment, Treatments
from vetl.loading.published.digests import verify
from vetl.loading.published.last_publication import PublicationRecord, read_record
from vetl.loading.published.marts import Masking
from vetl.loading.published.publish import Published, publish
from vetl.loading.published.record import Build, how_to_publish, write_record

PII: Treatments = {"clients": {"name": "hash"}, "ages": {}}
GRAINS = {"clients": ("practice_id", "id"), "ages": ("id",)}
Rows = dict[tuple[str | None, str], str]


class Marts:
    """A private file whose builds rebuild the marts, or change them and note the changes."""

    def __init__(self, folder: Path) -> None:
        self.private, self.target = folder / "vetl.duckdb", folder / "analytics.duckdb"
        self.builds = 0
        with duckdb.connect(str(self.private)) as connection:
            connection.execute("""
                create schema marts; create schema control;
                create table control.builds (build_id varchar, previous_id varchar, is_complete boolean);
            """)

    def build(self, rows: Rows, *, anew: bool = False, complete: bool = True) -> None:
        before = self.builds if self.builds and not anew else None
        self.builds += 1
        with duckdb.connect(str(self.private)) as connection:
            connection.execute("create or replace table fresh (practice_id varchar, id varchar, name varchar)")
            for (practice, identity), name in rows.items():
                connection.execute("insert into fresh values (?, ?, ?)", [practice, identity, name])
            if before:
                connection.execute("""
                    create or replace table control.changed_in_clients as
                    select *, -1 as weight from (from marts.clients except from fresh)
                    union all select *, 1 from (from fresh except from marts.clients)
                """)
            else:
                connection.execute("drop table if exists control.changed_in_clients")
            connection.execute("create or replace table marts.clients as from fresh")
            connection.execute(
                f"create or replace view marts.ages as select id, {self.builds} as age from marts.clients"
            )
            connection.execute("drop table fresh")
            connection.execute("delete from control.builds")
            connection.execute(
                "insert into control.builds values (?, ?, ?)", [str(self.builds), before and str(before), complete]
            )

    def publish(self, key: str | None = "key", pii: Treatments = PII) -> Published:
        return publish(self.private, self.target, pii=pii, pii_key=key, grains=GRAINS)

    def published_and_copied(self) -> tuple[Any, Any]:
        """Return the rows of the published file, and those of a full copy."""
        private, whole = self.private.with_name("copy.duckdb"), self.private.with_name("whole.duckdb")
        shutil.copy(self.private, private)
        publish(private, whole, pii=PII, pii_key="key")
        return _read(self.target), _read(whole)

    def damage(self) -> None:
        """Put a row into the published file that no copy of the marts has."""
        record = read_record(self.private)
        assert record is not None
        with duckdb.connect(str(self.target)) as connection:
            connection.execute("update marts.clients set practice_id = 'kept' where id = 'kept'")
        write_record(self.private, Build(record.build_id, None), Masking(PII, "key"), self.target, None)


def _read(path: Path) -> list[list[tuple[Any, ...]]]:
    return [ask(path, f"from marts.{mart} order by all") for mart in PII]


@pytest.fixture
def marts(tmp_path: Path) -> Marts:
    return Marts(tmp_path)


FIRST: Rows = {("p", "kept"): "Ann", ("p", "gone"): "Bob", (None, "other"): "Cat"}
SECOND: Rows = {("p", "kept"): "Ann", (None, "other"): "Dan", ("q", "new"): "Eve"}


def was_changed(marts: Marts) -> bool:
    """Return whether the damage is still there, which means that the marts were not copied again."""
    return any(row[0] == "kept" for row in _read(marts.target)[0])


def test_only_the_changes_of_the_last_build_are_copied(marts: Marts) -> None:
    marts.build(FIRST)
    marts.publish()
    marts.damage()
    marts.build(SECOND)
    result = marts.publish()

    assert was_changed(marts)
    assert result.tables == {"clients": 3, "ages": 3}
    assert result.masked == ("clients.name",)


DOUBTS: dict[str, Callable[[Marts], object]] = {
    "a build in full": lambda marts: marts.build(SECOND, anew=True),
    "two builds": lambda marts: (marts.build(FIRST), marts.build(SECOND)),
    "a build that left models out": lambda marts: marts.build(SECOND, complete=False),
    "another file in its place": lambda marts: (marts.build(SECOND), marts.target.write_bytes(b"")),
    "no file": lambda marts: (marts.build(SECOND), marts.target.unlink()),
    "no record": lambda marts: (marts.build(SECOND), record_path(marts).unlink()),
    "a record not understood": lambda marts: (marts.build(SECOND), record_path(marts).write_text("[]")),
}


def record_path(marts: Marts) -> Path:
    return marts.private.with_name("vetl.duckdb.published.json")


@pytest.mark.parametrize("doubt", DOUBTS)
def test_in_doubt_the_marts_are_copied_whole(marts: Marts, doubt: str) -> None:
    marts.build(FIRST)
    marts.publish()
    marts.damage()
    DOUBTS[doubt](marts)
    marts.publish()

    assert not was_changed(marts)


@pytest.mark.parametrize(
    ("key", "treatment"), [("key", "null"), ("key", "clear"), ("another", "hash"), (None, "hash")]
)
def test_another_treatment_masks_everything_again(marts: Marts, key: str | None, treatment: Treatment) -> None:
    """Both of the same build and of the next one, whose changes alone would leave the other rows as they were."""
    marts.build(FIRST)
    marts.publish()
    before = _read(marts.target)
    marts.publish(key, {**PII, "clients": {"name": treatment}})
    assert _read(marts.target) != before

    marts.build(SECOND)
    marts.publish()
    published, whole = marts.published_and_copied()
    assert published == whole


def test_a_file_of_twice_its_size_is_written_again(tmp_path: Path) -> None:
    file = tmp_path / "analytics.duckdb"
    file.write_bytes(b"x" * 201)
    private, build, masking = tmp_path / "vetl.duckdb", Build("2", "1"), Masking(PII, None)

    for whole_bytes, how in ((100, "whole"), (101, "changes")):
        write_record(private, Build("1", None), masking, file, whole_bytes)
        assert how_to_publish(read_record(private), build, masking, file) == how


def test_publishing_twice_brings_nothing(marts: Marts) -> None:
    marts.build(FIRST)
    first = marts.publish()
    before = marts.target.stat()

    assert marts.publish() == first
    after = marts.target.stat()  # a read may have changed the access time
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_the_record_does_not_reveal_the_key(marts: Marts) -> None:
    marts.build(FIRST)
    marts.publish("a secret")

    record = record_path(marts).read_text()
    assert "secret" not in record
    assert json.loads(record).keys() == set(PublicationRecord.__slots__)


keys = st.tuples(st.sampled_from(["p", "q", None]), st.sampled_from("abc"))
names = st.dictionaries(keys, st.sampled_from(["Ann", "Bob"]), max_size=6)


@settings(max_examples=examples(5))
@given(states=st.lists(st.tuples(names, st.booleans()), min_size=2, max_size=4))
def test_whatever_the_builds_did_it_shows_the_last(
    tmp_path_factory: pytest.TempPathFactory, states: list[tuple[Rows, bool]]
) -> None:
    marts = Marts(tmp_path_factory.mktemp("marts"))
    for rows, is_published in states:
        marts.build(rows)
        if is_published:
            marts.publish()
    marts.publish()

    published, whole = marts.published_and_copied()
    assert published == whole
    assert verify(marts.target).different == ()
