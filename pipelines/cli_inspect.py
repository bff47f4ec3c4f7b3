"""The commands that only look, and the one that writes the first settings."""

import json
from pathlib import Path
from typing import Any

from pipelines import bundled
from pipelines.cli_views import Format, show_inbox, show_query, show_status
from pipelines.errors import ConfigurationError, InboxError, WarehouseError
from pipelines.loading.query import query as answer_query
from pipelines.loading.status import snapshot_path
from pipelines.received import RECEIVED
from pipelines.receiving.inbox import look
from pipelines.settings import load_settings
from pipelines.settings_sources import DEFAULT_FILE
from pipelines.terminal import print_json, say

_MAGIC, _MAGIC_AT = b"DUCK", 8
"""How every DuckDB file begins, behind a checksum."""
_RECEIVED = {endpoint.name for endpoint in RECEIVED}


def init(*, as_json: bool) -> int:
    """`vetl init`: the commented example as `vetl.toml` in the working directory."""
    target = Path.cwd() / DEFAULT_FILE
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(bundled.example_settings().read_text("utf-8"))
    except FileExistsError:
        raise ConfigurationError(f"{target}: is already there and stays as it is") from None
    except OSError as error:
        raise ConfigurationError(f"{target}: cannot be written: {error.strerror}") from None
    if as_json:
        print_json({"exit_code": 0, "path": target})
    else:
        say(f"wrote {target}; set base_url and practices there, the credentials in the environment or .env")
    return 0


def status(*, as_json: bool) -> int:
    """`vetl status`: the snapshot that the last commit left, so that a running sync is never disturbed.

    The inbox is asked itself: its file is read while a receiver writes it. Where the warehouse is gone, or is no
    database any more, one line says so beside the snapshot, and the exit code is 1: other commands would fail.
    """
    settings = load_settings()
    inbox = inbox_status(settings.webhooks.inbox)
    lists = read_status(settings.warehouse.path, nothing_yet=[] if inbox else None)
    if inbox:
        inbox["quarantined"] = sum(item["quarantined"] for item in lists if item["endpoint"] in _RECEIVED)
    broken = broken_warehouse(settings.warehouse.path) if lists else None
    code = 1 if broken else 0
    if as_json:
        told = {"exit_code": code, "warehouse": settings.warehouse.path, "lists": lists, "inbox": inbox}
        print_json({**told, "error": broken} if broken else told)
    else:
        show_status(settings.warehouse.path, lists)
        show_inbox(inbox)
        if broken:
            say(broken)
    return code


def broken_warehouse(path: Path) -> str | None:
    """Why the file is no database that the snapshot could be of, in one line; `None` where it looks like one.

    Only its first bytes are read: a running sync holds it.
    """
    try:
        with path.open("rb") as file:
            looks_right = file.read(_MAGIC_AT + len(_MAGIC)).endswith(_MAGIC)
        why = None if looks_right else "is no DuckDB database"
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
    shown = "the table is what the last commit left beside it; restore the file, or move both away and sync anew"
    return f"{path}: {why}; {shown}" if why else None


def inbox_status(path: Path) -> dict[str, Any] | None:
    """What waits in the inbox, or why it cannot be read, in JSON values; `None` where there is no inbox."""
    if not path.exists():
        return None
    told: dict[str, Any] = {"path": path, "waiting": None, "oldest": None, "last_received": None}
    try:
        backlog = look(path)
    except InboxError as error:
        return {**told, "error": str(error)}
    return {
        **told,
        "waiting": backlog.waiting,
        "oldest": backlog.oldest,
        "last_received": backlog.last_received,
        "error": None,
    }


def read_status(warehouse: Path, *, nothing_yet: list[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    """What `<warehouse>.status.json` says of each list of each practice.

    Raises:
        WarehouseError: nothing has been synced yet, and no answer is given for that.
    """
    snapshot = snapshot_path(warehouse)
    try:
        return json.loads(snapshot.read_text("utf-8"))
    except FileNotFoundError:
        if nothing_yet is not None:
            return nothing_yet
        raise WarehouseError(f"{warehouse}: nothing has been synced yet; run `vetl sync`") from None
    except (OSError, ValueError):
        raise WarehouseError(f"{snapshot}: cannot be read; the next sync writes it anew") from None


def query(sql: str, style: Format, *, private: bool, as_json: bool) -> int:
    """`vetl query`: one statement on the published file, or on the private one."""
    warehouse = load_settings().warehouse
    file = warehouse.path if private else warehouse.published
    if as_json:
        answer = answer_query(file, sql)
        print_json({"exit_code": 0, "columns": answer.columns, "rows": answer.rows})
    else:
        show_query(file, sql, style)
    return 0
