"""Print the lines of the lock for the packages that pip has chosen, so that pip installs them by their hashes.

`pip install --dry-run --report chosen.json ...` resolves and runs nothing; `python locked.py chosen.json LOCK...`
prints.
"""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path


def locked(chosen: Iterable[str], locks: Sequence[str]) -> str:
    """Return the entries of these packages.

    Raises:
        SystemExit: the lock has none for one of them.
    """
    entries = {_name(entry): entry for lock in locks for entry in re.split(r"\n(?=\S)", lock.strip())}
    wanted = sorted({_name(package) for package in chosen} - {"vetl-warehouse"})
    if missing := [name for name in wanted if name not in entries]:
        raise SystemExit(f"not in the lock: {', '.join(missing)}; run `make lock`")
    return "\n".join(entries[name] for name in wanted)


def _name(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[=\[; ]", requirement, maxsplit=1)[0]).lower()


def main(report: str, *locks: str) -> None:
    """Print the entries for a report of pip's."""
    chosen = json.loads(Path(report).read_text("utf-8"))["install"]
    names = [item["metadata"]["name"] for item in chosen]
    print(locked(names, [Path(lock).read_text("utf-8") for lock in locks]))  # noqa: T201 - its output


if __name__ == "__main__":
    main(*sys.argv[1:])
