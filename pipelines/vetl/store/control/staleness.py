"""Find out whether a build would change the marts, because rows changed or time passed a boundary."""

from contextlib import closing
from pathlib import Path

import duckdb

_NEWS = """
    select case
        when build.build_id is null then 'the marts were not built whole yet'
        when build.fingerprint is distinct from $fingerprint then 'they were made by other definitions'
        when exists (select 1 from control.changes) then 'rows changed'
        when build.practices is distinct from
            (select md5(string_agg(practices::varchar, ';' order by id)) from control.practices)
            then 'practices were set otherwise'
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
