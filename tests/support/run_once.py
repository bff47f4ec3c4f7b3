"""Work that is done once for all tests, by the first process that needs it, and again only if its code changes."""

import fcntl
import pickle
import shutil
import traceback
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".cache" / "tests"
"""The results, in a folder for each content of what makes them."""
MADE_BY = ("pipelines", "dbt", "sandbox", "tests/support", "requirements.lock", "warehouse/migrations")


_FAILED: dict[str, str] = {}


def shared_result(name: str, work: FunctionType) -> Any:
    """Return the result of a work, done in a folder of its own; if it fails, each test that needs it fails."""
    of_content = KEPT / _content()
    of_content.mkdir(parents=True, exist_ok=True)
    name += "-" + sha256(Path(work.__code__.co_filename).read_bytes()).hexdigest()[:8]
    folder, stored = of_content / name, of_content / f"{name}.pickle"
    with (of_content / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stored.exists() and name not in _FAILED:
            _remove_others()
            shutil.rmtree(folder, ignore_errors=True)  # of a run that was stopped
            folder.mkdir()
            try:
                stored.write_bytes(pickle.dumps(work(folder)))
            except Exception:  # noqa: BLE001 - every test that needs the result gets the error
                _FAILED[name] = traceback.format_exc()
    if name in _FAILED:
        pytest.fail(_FAILED[name], pytrace=False)
    return pickle.loads(stored.read_bytes())


def _remove_others() -> None:
    """Remove the results of earlier contents: each is some hundred megabytes."""
    for folder in KEPT.iterdir():
        if folder.name != _content():
            shutil.rmtree(folder, ignore_errors=True)


@cache
def _content() -> str:
    content = sha256()
    for path in sorted(path for part in MADE_BY for path in (ROOT / part, *(ROOT / part).rglob("*"))):
        if path.is_file() and path.suffix != ".pyc" and not {"target", "logs"} & set(path.parts):
            content.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes() + b"\0")
    return content.hexdigest()[:16]
