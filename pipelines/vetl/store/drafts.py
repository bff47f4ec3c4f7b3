"""Write a file beside its final path, then rename it into place, safe from links that other users plant.

A draft lies in a new folder of its owner (mode 0700) with a name that nobody can guess. The process that writes
the draft holds a lock on that folder. The lock ends with the process. If a folder can be locked, its
process is dead.
"""

import fcntl
import json
import os
import re
import shutil
import stat
from collections.abc import Collection, Generator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from tempfile import mkdtemp
from typing import TextIO

_FOLDER = ".drafts-"


@contextmanager
def draft_for(target: Path) -> Generator[Path]:
    """Yield a path beside `target` at which there is nothing yet, to be renamed to `target`.

    A draft that was not renamed is removed at the end, and so are drafts that dead processes left. The folder of
    `target` is made if it is missing.

    Raise `OSError` if the folder of `target` cannot be written, or another account has taken the draft's folder
    away.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(target)
    folder, handle = _new_folder(target)
    try:
        yield folder / target.name
        _refuse_another(folder, handle)
    finally:
        with suppress(OSError):
            _refuse_another(folder, handle)
            shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def give_access(draft: Path, target: Path, *, first: int, most: int = 0o777) -> None:
    """Give the draft the group and mode of the file that it replaces, at `most` this mode."""
    if not target.exists():
        draft.chmod(first)
        return
    before = target.stat()
    mode = before.st_mode & most
    try:
        os.chown(draft, -1, before.st_gid)
    except PermissionError:  # this account is not in that group, and its own group must not read instead
        mode &= ~stat.S_IRWXG
    draft.chmod(mode)


def replace_text(target: Path, text: str) -> None:
    """Replace the text of a file in one rename. Only the owner may read the file.

    Raise `OSError` if the file cannot be written; the earlier text stays.
    """
    with draft_for(target) as draft:
        with _created(draft) as file:
            file.write(text)
        draft.replace(target)


def rewrite_log(log: Path, values: Collection[str], by: str) -> None:
    """Replace whole JSON strings in a log of lines, in one rename; lines that come meanwhile are kept.

    Raise `OSError` if the log cannot be written; the earlier one stays.
    """
    if not log.exists() or not values:
        return
    strings = re.compile("|".join(re.escape(json.dumps(value)) for value in values))
    with log.open(encoding="utf-8") as before, draft_for(log) as draft, _created(draft) as after:
        after.writelines(strings.sub(json.dumps(by), line) for line in before)
        after.flush()
        draft.replace(log)
        after.writelines(strings.sub(json.dumps(by), line) for line in before)


def _created(draft: Path) -> TextIO:
    """Create a draft for its owner alone, and follow no link in its place."""
    handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY, 0o600)
    return os.fdopen(handle, "w", encoding="utf-8")


def remove_leftovers(target: Path) -> None:
    """Remove the drafts of `target` that dead processes left."""
    for folder in target.parent.glob(f"{escape(f'.{target.name}{_FOLDER}')}*"):
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(handle)


def _new_folder(target: Path) -> tuple[Path, int]:
    """Make and lock the folder of a draft. Return the folder and the handle that holds the lock."""
    while True:
        folder = Path(mkdtemp(prefix=f".{target.name}{_FOLDER}", dir=target.parent))
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        fcntl.flock(handle, fcntl.LOCK_EX)
        # Another process may have removed the new folder as a leftover before this one locked it.
        with suppress(FileNotFoundError):
            _refuse_another(folder, handle)
            return folder, handle
        os.close(handle)


def _refuse_another(folder: Path, handle: int) -> None:
    """Raise PermissionError if the path leads to another folder than the one that was made."""
    there, made = folder.lstat(), os.fstat(handle)
    if (there.st_dev, there.st_ino) != (made.st_dev, made.st_ino):
        raise PermissionError(1, "another account has replaced the folder of the draft", str(folder))
