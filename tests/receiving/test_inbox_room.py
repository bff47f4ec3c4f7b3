"""The look for room beside the inbox touches no file of the owner."""

from pathlib import Path

import pytest

from pipelines.core.errors import InboxError
from pipelines.receiving.inbox_file import check_room


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
