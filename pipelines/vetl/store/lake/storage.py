"""The storage of a lake: a folder, or a prefix in an S3 bucket. No file is ever visible in part."""

import os
import shutil
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pyarrow import fs

from vetl.core.errors import MAKE_ROOM, NO_ROOM, LakeError
from vetl.drafts import draft_for
from vetl.store.failures import first_line, remedy_in

_CHUNK = 1 << 22
_S3 = "s3://"


@dataclass(frozen=True, slots=True)
class S3Access:
    """Endpoint and keys of a bucket. Without keys, those that S3's own tools find are used."""

    endpoint: str | None = None
    access_key: str | None = field(default=None, repr=False)
    secret_key: str | None = field(default=None, repr=False)


class Storage:
    """A storage. Paths are relative to its location, with slashes. `shared`: other accounts may read a folder."""

    def __init__(self, location: str, access: S3Access, *, shared: bool = False) -> None:
        self.location = location
        self._mode = 0o755 if shared else 0o700
        self.is_local = not location.startswith(_S3)
        with _in_one_line(location):
            if self.is_local:
                self._files: fs.FileSystem = fs.LocalFileSystem()
            else:
                self._files = fs.S3FileSystem(
                    endpoint_override=access.endpoint,
                    access_key=access.access_key,
                    secret_key=access.secret_key,
                    background_writes=False,
                )
        self._root = location.removeprefix(_S3)

    @contextmanager
    def drafts(self, elsewhere: Path) -> Generator[Path]:
        """Yield a folder for drafts, which lies within a local lake, so that `put` is a rename."""
        target = Path(self.location) / "files" if self.is_local else elsewhere
        with ExitStack() as stack:
            with _in_one_line(self.location):
                if self.is_local:
                    self._make(target.parent)
                folder = stack.enter_context(draft_for(target))
                folder.mkdir(mode=0o700)
            yield folder

    def read(self, path: str) -> bytes | None:
        """Return the content of a file; `None` if it does not exist."""
        with _in_one_line(self.location):
            try:
                with self._files.open_input_stream(self._at(path)) as stream:
                    return stream.read()
            except FileNotFoundError:
                return None

    def put(self, draft: Path, path: str) -> None:
        """Move the draft to this path in one step; replace the file at the path."""
        with _in_one_line(self.location):
            if self.is_local:
                target = Path(self._at(path))
                self._make(target.parent)
                draft.chmod(self._mode & 0o666)
                draft.replace(target)
                return
            with draft.open("rb") as source, self._files.open_output_stream(self._at(path)) as stream:
                shutil.copyfileobj(source, stream, _CHUNK)
            draft.unlink()

    def put_text(self, text: str, draft: Path, path: str) -> None:
        """Write a text into the draft, then move the draft to this path."""
        with _in_one_line(self.location):
            draft.write_text(text, "utf-8")
        self.put(draft, path)

    def settle(self) -> None:
        """Return when all files that were put would survive a power cut."""
        if self.is_local:
            os.sync()

    def paths(self, folder: str) -> list[str]:
        """Return every file below a folder."""
        selector = fs.FileSelector(self._at(folder), recursive=True, allow_not_found=True)
        with _in_one_line(self.location):
            entries = self._files.get_file_info(selector)
        skipped = len(self._root) + 1
        return [item.path[skipped:] for item in entries if item.type == fs.FileType.File]

    def remove(self, path: str) -> None:
        """Remove a file."""
        with _in_one_line(self.location):
            self._files.delete_file(self._at(path))

    def _make(self, folder: Path) -> None:
        """Make a folder with its parents. Existing folders keep their modes, which an operator may have chosen."""
        missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
        for parent in reversed(missing):
            parent.mkdir()
            parent.chmod(self._mode)

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}"


@contextmanager
def _in_one_line(location: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or first_line(error)
        remedy = MAKE_ROOM if error.errno in NO_ROOM else remedy_in(str(error))
        raise LakeError(f"{location}: {reason}{remedy}") from None
