"""Record the builds of the marts, by vetl itself: no model of dbt writes what another one reads.

Also find out whether a build would change the marts, because rows changed or time passed a boundary.
"""

from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import duckdb

from vetl.store.connection import Connection, transaction

_ALWAYS = ("runs", "windows", "quarantine", "restatements")
"""The tables of `control` that each sync writes."""

_SPELT = frozenset({"ai_outbound_requests", "appointments", "clients", "phone_calls"})
"""The lists with telephone numbers, whose spellings are in `control.phone_numbers`."""

_PRACTICES = "(select md5(string_agg(practices::varchar, ';' order by id)) from control.practices)"


def begin(connection: Connection, fingerprint: str, *, full_refresh: bool) -> tuple[bool, frozenset[str] | None]:
    """Record that a build begins; return whether it is one in full, and the sources that changed since the last.

    A build in full makes all rows again: if that is requested, or if another text of the project or other
    variables made the last ones. `None` for all sources: the last build was not whole. Until `finish` a build is
    not done, and the changes stay for the next one.
    """
    rows = connection.execute(
        f"select is_complete, practices is distinct from {_PRACTICES} from control.builds where fingerprint = ?",
        [fingerprint],
    ).fetchall()
    if full_refresh or not rows:
        connection.execute("delete from control.builds")
        return True, None
    [(is_complete, has_other_practices)] = rows
    connection.execute("update control.builds set is_complete = false")
    changed = {
        name for (name,) in connection.execute("select distinct table_name from control.changes").fetchall()
    }
    return False, None if has_other_practices or not is_complete else _sources(changed)


def _sources(changed: Collection[str]) -> frozenset[str]:
    spellings = ("phone_numbers",) if _SPELT.intersection(changed) else ()
    control = {f"control.{name}" for name in (*_ALWAYS, *spellings, *changed)}
    return frozenset(control | {f"{schema}.{name}" for schema in ("partner", "history") for name in changed})


def finish(connection: Connection, fingerprint: str, *, is_full: bool) -> None:
    """Record that every model was built and passed its tests, and forget the changes that it took in."""
    with transaction(connection):
        connection.execute("delete from control.builds")
        connection.execute(
            "insert into control.builds by name select $fingerprint as fingerprint, $is_full as is_full,"
            f" true as is_complete, $build_id as build_id, {_PRACTICES} as practices,"
            " (select max_by(source_clock, started_at) from control.runs where source_clock is not null)"
            " as source_clock",
            {"fingerprint": fingerprint, "is_full": is_full, "build_id": uuid4().hex},
        )
        connection.execute("delete from control.changes")


def resume(connection: Connection, changed: Collection[str] | None) -> None:
    """Count the build before as whole again: some models and tests ran without a failure, and nothing else did.

    `changed` are the sources that `begin` returned.
    """
    if changed is not None:
        connection.execute("update control.builds set is_complete = true")


def doubt(connection: Connection, fingerprint: str) -> None:
    """Make the next build one in full if some models are now made with another text or other variables."""
    of_vetl = "from duckdb_tables() where schema_name = 'control' and table_name = 'builds'"
    if connection.execute(f"select 1 {of_vetl}").fetchone():  # a file that dbt alone has made has none
        connection.execute("delete from control.builds where fingerprint <> ?", [fingerprint])


_NEWS = f"""
    select case
        when build.build_id is null then 'the marts were not built whole yet'
        when build.fingerprint is distinct from $fingerprint then 'they were made by other definitions'
        when exists (select 1 from control.changes) then 'rows changed'
        when build.practices is distinct from {_PRACTICES} then 'practices were set otherwise'
        when exists (
            select 1 from control.quarantine
            where greatest(first_seen, resolved_at) > build.source_clock
        ) then 'rows were quarantined or released'
        when exists (
            select 1 from control.runs where command = 'reconcile' and source_clock > build.source_clock
        ) then 'lists were reconciled'
        when clock.now < build.source_clock then 'the clock of the source went back'
        else (
            select min_by(what, next_at) from intermediate.int_time_boundaries where next_at <= clock.now
        )
    end
    from (
        select max_by(source_clock, started_at) as now from control.runs where source_clock is not null
    ) as clock
    left join control.builds as build on build.is_complete
"""


def news(private: Path, fingerprint: str) -> str | None:
    """Return the first reason why a build would change the marts; `None` if it would not.

    `fingerprint` is that of the dbt project and its variables. Values that grow with every minute, such as the age
    of an unbooked request, are as of the last build and are no reason for a build.
    """
    try:
        with closing(duckdb.connect(str(private), read_only=True)) as connection:
            ((answer,),) = connection.execute(_NEWS, {"fingerprint": fingerprint}).fetchall()
    except duckdb.CatalogException:
        return "the marts were not built yet"
    except duckdb.IOException:
        return "another process holds the warehouse"  # the build then waits for that process
    return answer
