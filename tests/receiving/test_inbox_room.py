"""The look for room beside the inbox touches no file of the owner."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pipelines.core.errors import InboxError
from pipelines.receiving.inbox_file import as_vetl_errors, check_room


def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept", "utf-8")
    (tmp_path / ".inbox.sqlite.room").symlink_to(precious)

    check_room(tmp_path / "inbox.sqlite")

    assert precious.read_text("utf-8") == "kept"
    assert {path.name for path in tmp_path.iterdir()} == {"precious", ".inbox.sqlite.room"}


def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(InboxError, match=r"inbox\.sqlite: No such file or directory"):
        check_room(tmp_path / "gone/inbox.sqlite")


def test_a_full_disk_is_named_with_its_remedy(tmp_path: Path) -> None:
    path = tmp_path / "inbox.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "pragma page_size = 512; create table bodies (body blob); pragma max_page_count = 4"
        )
        with (
            pytest.raises(InboxError, match=r"disk is full; is the disk full\? make room and run it again"),
            as_vetl_errors(path),
        ):
            connection.execute("insert into bodies values (zeroblob(100000))")
