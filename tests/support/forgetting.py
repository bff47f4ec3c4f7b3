"""A platform that vetl follows, and a person to forget, in each place of which vetl keeps data.

The search for remains uses no code of vetl: it searches the bytes of every file, and the values of every DuckDB,
Parquet and SQLite file.
"""

import json
import os
import re
import resource
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import vetl_sandbox
from support import warm_dbt
from support.forked import start
from support.mart_builds import untested
from support.sandbox_settings import changed, settings_for
from vetl import bundled
from vetl.forgetting.job import Forgetting, finish_forgettings, forget_person
from vetl.jobs import dbt_process
from vetl.partner.webhooks import Channel
from vetl.receiving.inbox import Entry, Inbox
from vetl.run import Event, built_and_published, report_of
from vetl.settings import Settings
from vetl.store.connection import quoted

PRACTICE = "loc-001"
TEXTS = ("VARCHAR", "JSON")


def settings_that_keep_everything(platform: vetl_sandbox.Handle, folder: Path, days: int) -> Settings:
    return changed(
        settings_for(platform, folder, days),
        warehouse={"contacts": True, "parquet": True, "lock_wait_seconds": 60, "keep": 3},
        webhooks={"inbox": folder / "inbox.sqlite"},
        lake={"path": str(folder / "lake"), "raw": True},
        watch={"ledger": folder / "watch.sqlite"},
        dashboard={"audit": folder / "audit.log"},
        spark={"scratch": folder / "scratch"},
    )


def client_to_forget(platform: vetl_sandbox.Handle, rng: Random) -> dict[str, str]:
    """Return a client with calls whose name and number no other client has."""
    clients = list(platform.truth(PRACTICE, "clients"))
    calls = list(platform.truth(PRACTICE, "phone_calls"))
    single = [
        client
        for client in clients
        if client["email"]
        and re.fullmatch(r"\+\d{11}", client["phone"] or "")
        and [other["name"] for other in clients].count(client["name"]) == 1
        and [other["phone"] for other in clients].count(client["phone"]) == 1
        and {call["client_id"] for call in calls if call["phone_number"] == client["phone"]} <= {client["id"]}
        and any(call["client_id"] == client["id"] for call in calls)
    ]
    person = rng.choice(single)
    return {name: person[name] for name in ("id", "name", "email", "phone", "remote_id")}


def send_webhooks_about(settings: Settings, person: Mapping[str, str], rng: Random) -> None:
    """Send webhooks about the person: with a practice, without one, and one that cannot be read."""
    written = rng.choice([person["name"], person["name"].upper(), "  ".join(reversed(person["name"].split()))])

    def sent(**fields: str) -> dict[str, str]:
        return {"id": f"m-{rng.random()}", "status": "sent", **fields}

    payloads: list[tuple[str, dict[str, str]]] = [
        (PRACTICE, sent(client_id=person["id"], clinic_id=PRACTICE)),
        (PRACTICE, sent(client_id="other", said=f"by {written}")),
        ("", sent(said=f"{written}, {person['phone']}")),
        (PRACTICE, {"status": "sent", "said": person["email"]}),
    ]
    with Inbox.open(settings.webhooks.inbox) as inbox:
        inbox.keep(
            [Entry(Channel.MESSAGES, of, json.dumps(body).encode(), datetime.now(UTC)) for of, body in payloads]
        )


def build_in_full(settings: Settings) -> Mapping[str, Any]:
    events = built_and_published(settings, full_refresh=True)
    return report_of([event for event in events if isinstance(event, Event)])


def forget(settings: Settings, person: Mapping[str, str]) -> Forgetting:
    with untested():
        return forget_person(settings, PRACTICE, person["id"], partial(build_in_full, settings))


def continue_forgetting(settings: Settings) -> list[Forgetting]:
    with untested():
        return finish_forgettings(settings, partial(build_in_full, settings))


def _forget_and_exit(
    settings: Settings, person: Mapping[str, str], address: str, project: Path, ended: Path, most: int
) -> None:
    os.environ[warm_dbt.ADDRESS] = address
    dbt_process.COMMAND = warm_dbt.command()
    bundled.dbt_project = lambda: project
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    if most:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    try:
        forget(settings, person)
    except Exception as error:  # noqa: BLE001 - the test judges the error, of any kind
        ended.write_text(f"{type(error).__name__}: {error}", "utf-8")
    else:
        ended.write_text("", "utf-8")


def forget_apart(
    settings: Settings,
    person: Mapping[str, str],
    ended: Path,
    *,
    most: int = 0,
    kill: Callable[[], bool] | None = None,
) -> str | None:
    """Forget the person in a process of its own. Return its error, nothing on success, or `None` if it was killed.

    `most` is the number of bytes of a file that the process may write. `kill` returns whether to send SIGKILL now.
    """
    ended.unlink(missing_ok=True)
    given = (settings, dict(person), os.environ[warm_dbt.ADDRESS], bundled.dbt_project(), ended, most)
    process = start(_forget_and_exit, *given)
    while process.is_alive():
        if kill and kill():
            process.kill()
        process.join(0.002)
    return ended.read_text("utf-8") if ended.exists() else None


def after(seconds: float) -> Callable[[], bool]:
    """Return whether so many seconds have passed since now."""
    deadline = time.monotonic() + seconds
    return lambda: time.monotonic() > deadline


def remains_of(folder: Path, person: Mapping[str, str]) -> list[str]:
    """Return the places with data of the person: a file, or a table in it, and which of the values.

    Pets have ids of the same form, so ids are only searched in columns of clients.
    """
    values = {name: person[name] for name in ("name", "email", "phone")} | {"digits": person["phone"][-10:]}
    ids, remains = [person["id"], person["remote_id"]], list[str]()
    with duckdb.connect() as connection:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            content = file.read_bytes()
            name = str(file.relative_to(folder))
            forms = [(key, form) for key, text in values.items() for form in {text, json.dumps(text)[1:-1]}]
            remains += [f"{name}: {key}" for key, form in forms if form.encode() in content]
            places = _in_values(connection, file, content, list(values.values()), ids)
            remains += [f"{name}: {place}" for place in places]
    return remains


def _in_values(
    connection: duckdb.DuckDBPyConnection, file: Path, content: bytes, texts: list[str], ids: list[str]
) -> Iterator[str]:
    if content[8:12] == b"DUCK":
        connection.execute(f"attach '{file}' as held (read_only)")
        tables = connection.execute(
            "select 'held.' || schema_name || '.' || table_name, list(column_name) from duckdb_columns()"
            " join duckdb_tables() using (database_name, schema_name, table_name)"
            " where database_name = 'held' and data_type in ('VARCHAR', 'JSON') group by all"
        ).fetchall()
        yield from (table for table, columns in tables if _holds(connection, table, columns, texts, ids))
        connection.execute("detach held")
    if content[:4] == b"PAR1":
        source = f"read_parquet('{file}', hive_partitioning = false)"
        described = connection.execute(f"describe from {source}").fetchall()
        columns = [name for name, kind, *_ in described if kind in TEXTS]
        if columns and _holds(connection, source, columns, texts, ids):
            yield "a row"
    if content[:6] == b"SQLite" and file.name.startswith("inbox"):
        with closing(sqlite3.connect(file)) as inbox:
            bodies = [json.loads(body) for (body,) in inbox.execute("select body from deliveries")]
            yield from ("client_id" for body in bodies if body.get("client_id") in ids)


def _holds(
    connection: duckdb.DuckDBPyConnection, source: str, columns: list[str], texts: list[str], ids: list[str]
) -> bool:
    """Return whether a column has one of the texts, or a column of clients' ids one of the ids."""
    ids_of_clients = ["client_id", "remote_client_id", *(["id"] if source.endswith(".clients") else [])]
    row = f"lower(concat_ws(chr(0), {', '.join(map(quoted, columns))}))"
    places = ", ".join(quoted(name) for name in columns if name in ids_of_clients)
    [(holds,)] = connection.execute(
        f"select coalesce(bool_or(list_bool_or([contains({row}, lower(text)) for text in $texts])"
        f" or list_has_any([{places}], $ids::varchar[])), false) from {source}",
        {"texts": texts, "ids": ids},
    ).fetchall()
    return holds
