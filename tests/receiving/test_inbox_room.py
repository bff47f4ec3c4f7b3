"""The look for room beside the inbox touches no file of the owner."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.core.errors import InboxError
from pipelines.partner.webhooks import Channel
from pipelines.receiving.inbox import Entry, Inbox


def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept", "utf-8")
    (tmp_path / ".inbox.sqlite.room").symlink_to(precious)

    Inbox.check_room_at(tmp_path / "inbox.sqlite")

    assert precious.read_text("utf-8") == "kept"
    assert {path.name for path in tmp_path.iterdir()} == {"precious", ".inbox.sqlite.room"}


def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(InboxError, match=r"inbox\.sqlite: No such file or directory"):
        Inbox.check_room_at(tmp_path / "gone/inbox.sqlite")


def test_a_full_disk_is_named_with_its_remedy(tmp_path: Path) -> None:
    path = tmp_path / "inbox.sqlite"
    with Inbox.open(path) as inbox:
        inbox._connection.execute("pragma max_page_count = 8")  # pyright: ignore[reportPrivateUsage] - as a quota
        entry = Entry(Channel.MESSAGES, "loc-001", bytes(100_000), datetime.now(UTC))
        with pytest.raises(InboxError, match=r"disk is full; is the disk full\? make room and run it again"):
            inbox.keep([entry])
