"""Obstacles beside the published file: links and foreign files are refused, drafts of dead processes removed."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from vetl.core.errors import WarehouseError
from vetl.core.published_file import Treatments
from vetl.forgetting.search import remove_leftovers
from vetl.publishing.contacts import contacts_file, remove_contacts, write_contacts
from vetl.publishing.publication import publish
from vetl.settings.core_sections import WarehouseSettings
from vetl.store.drafts import draft_for, replace_text

PII: Treatments = {"clients": {"name": "null"}}
SECRET = "VETL_PARTNER__PASSWORD=kept\n"


def text_file(target: Path) -> None:
    target.write_text(SECRET)


def link_to_settings(target: Path) -> None:
    (target.parent / ".env").write_text(SECRET)
    target.symlink_to(target.parent / ".env")


def foreign_database(target: Path) -> None:
    with duckdb.connect(str(target)) as connection:
        connection.execute("create schema marts; create table marts.sales as select 1 as amount")


FOREIGN = {"text": text_file, "a link to .env": link_to_settings, "another database": foreign_database}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_file_that_vetl_did_not_publish_is_not_replaced(private: Path, target: Path, kind: str) -> None:
    FOREIGN[kind](target)
    before, files = target.read_bytes(), set(target.parent.iterdir())

    with pytest.raises(WarehouseError, match="vetl did not publish it and does not replace it; move it away"):
        publish(private, target, pii=PII, pii_key=None)

    assert target.read_bytes() == before
    assert set(target.parent.iterdir()) == files


def test_foreign_contacts_are_neither_replaced_nor_removed(private: Path, target: Path) -> None:
    publish(private, target, pii=PII, pii_key=None)
    foreign_database(contacts_file(target))
    before = contacts_file(target).read_bytes()

    with pytest.raises(WarehouseError, match="move it away"):
        write_contacts(private, target)
    assert not remove_contacts(target)

    assert contacts_file(target).read_bytes() == before


def test_a_link_in_the_place_of_a_draft_is_not_followed(private: Path, tmp_path: Path) -> None:
    """If its name were the process id, anyone with write access could create a link for every possible id."""
    folder, stolen = tmp_path / "shared", tmp_path / "stolen.duckdb"
    folder.mkdir()
    published = folder / "analytics.duckdb"
    for number in range(os.getpid() - 5, os.getpid() + 5):
        (folder / f".contacts.duckdb.{number}").symlink_to(stolen)
    publish(private, published, pii=PII, pii_key=None)

    write_contacts(private, published)

    assert not stolen.exists()
    assert not contacts_file(published).is_symlink()


def test_a_draft_lies_in_a_folder_of_its_owner_alone(tmp_path: Path) -> None:
    with draft_for(tmp_path / "file") as draft:
        assert draft.parent.parent == tmp_path
        assert draft.parent.stat().st_mode & 0o777 == 0o700
        draft.write_text("new")
        draft.replace(tmp_path / "file")

    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_text_is_replaced_for_its_owner_alone_and_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("kept")
    (tmp_path / "file").symlink_to(tmp_path / "other")

    replace_text(tmp_path / "file", "new")

    assert (tmp_path / "other").read_text() == "kept"
    assert (tmp_path / "file").read_text() == "new"
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


WRITER = """
import sys
from pathlib import Path
from vetl.store.drafts import draft_for
with draft_for(Path(sys.argv[1])) as draft:
    draft.write_text("clear names")
    print(draft, flush=True)
    sys.stdin.read()
"""


def replace(target: Path) -> None:
    replace_text(target, "new")


def search_after_a_forgetting(target: Path) -> None:
    remove_leftovers(WarehouseSettings(path=target.parent / "vetl.duckdb", published=target.parent / "a.duckdb"))


@pytest.mark.parametrize("clean", [replace, search_after_a_forgetting])
def test_a_draft_of_a_killed_process_is_removed_and_one_of_a_living_process_stays(
    tmp_path: Path, clean: Callable[[Path], None]
) -> None:
    target = tmp_path / "contacts.duckdb"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(target)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    try:
        drafts = [Path(process.stdout.readline().strip()) for process in processes if process.stdout]
        assert all(draft.exists() for draft in drafts)
        processes[0].send_signal(signal.SIGKILL)
        processes[0].wait(60)

        clean(target)

        assert [draft.exists() for draft in drafts] == [False, True]
    finally:
        for process in processes:
            process.kill()
            process.communicate()
