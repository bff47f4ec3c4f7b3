-- What vetl knows of its own work. The raw and history tables follow from the endpoints' declarations
-- (pipelines/vetl/loading/tables.py); only control needs migrations.
create schema raw;
create schema history;
create schema control;

-- Facts of this file: the salt of call keys.
create table control.meta (
    name varchar not null,
    value varchar not null
);

create table control.practices (
    id varchar not null,
    name varchar not null,
    time_zone varchar not null,
    history_start date not null,
    group_name varchar
);

-- One row for each command that reads the source; "now" of the marts is the latest source_clock.
create table control.runs (
    run_id varchar not null,
    command varchar not null,
    started_at timestamptz not null,
    finished_at timestamptz,
    source_clock timestamptz,
    exit_code integer,
    summary json
);

-- One row for each window that was read: the certificates. Bounds are ISO 8601: an instant in UTC, or a
-- practice-local day (both ends included); null where the list was read whole.
create table control.windows (
    practice_id varchar not null,
    endpoint varchar not null,
    run_id varchar not null,
    kind varchar not null,
    window_start varchar,
    window_end varchar,
    status varchar,
    total_first bigint not null,
    total_last bigint not null,
    rows bigint not null,
    distinct_ids bigint,
    requests integer not null,
    retries integer not null,
    certified boolean not null,
    reason varchar not null,
    started_at timestamptz not null,
    finished_at timestamptz not null
);

create table control.cursors (
    practice_id varchar not null,
    endpoint varchar not null,
    cursor json not null,
    run_id varchar not null
);

-- What the source was seen to do: page base, page-size ceilings, parameter names, order.
create table control.capabilities (
    practice_id varchar not null,
    endpoint varchar not null,
    name varchar not null,
    value json,
    evidence varchar not null,
    run_id varchar not null
);

-- Rows that do not fit their model, with their bytes. Days are known for phone calls only.
create table control.quarantine (
    practice_id varchar not null,
    endpoint varchar not null,
    row_key varchar not null,
    reason varchar not null,
    payload varchar not null,
    first_day date,
    last_day date,
    run_id varchar not null,
    first_seen timestamptz not null,
    last_seen timestamptz not null,
    resolved_at timestamptz
);

-- Where the source departs from the contract: new fields, new enum values, local times that do not exist.
create table control.schema_changes (
    practice_id varchar not null,
    endpoint varchar not null,
    kind varchar not null,
    name varchar not null,
    value varchar not null,
    run_id varchar not null,
    first_seen timestamptz not null
);

-- When a row that is got by id was last asked for (an unchanged row is not written, so raw cannot tell).
create table control.lookups (
    practice_id varchar not null,
    endpoint varchar not null,
    id varchar not null,
    read_at timestamptz not null
);

-- Ids that the source was asked for and does not have.
create table control.missing_records (
    practice_id varchar not null,
    endpoint varchar not null,
    id varchar not null,
    read_at timestamptz not null
);
