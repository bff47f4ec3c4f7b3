-- The days of which rows were written, changed or marked as deleted since the marts were last built from all of them:
-- a call's day, of other rows the UTC day of `created_at`, null where there is none. Written with the rows themselves.
create table control.changes (
    practice_id varchar not null,
    table_name varchar not null,
    day date
);

-- The last build of the marts, one row: what it was built with and from, whether in full, whether every model
-- was, and the clock of the build before where this one takes in only what changed.
create table control.builds (
    fingerprint varchar not null,
    practices varchar,
    source_clock timestamptz,
    is_full boolean not null,
    is_complete boolean not null,
    previous_clock timestamptz
);
