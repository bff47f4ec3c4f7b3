-- What vetl knows of its own work. The raw and history tables follow from the endpoints' declarations
-- (pipelines/vetl/store/tables.py); only control needs migrations.
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

-- Rows that do not fit their model, with their bytes. Days are known for phone calls only. Acknowledged: somebody has looked
-- at the row, since when and with which reason; the exit codes do not count it.
create table control.quarantine (
    practice_id varchar not null,
    endpoint varchar not null,
    row_key varchar not null,
    reason varchar not null,
    payload varchar not null,
    first_day date,
    last_day date,
    status varchar, -- a row of raw that stands here too counts with this status
    run_id varchar not null,
    first_seen timestamptz not null,
    last_seen timestamptz not null,
    resolved_at timestamptz,
    acknowledged_at timestamptz,
    acknowledged_reason varchar
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

-- Rows that differ from what an earlier certificate covers: changed, appeared or vanished at the source without a
-- trace. `columns` names what changed; the values are in raw (now) and history (before, until `noticed_at`).
create table control.restatements (
    practice_id varchar not null,
    endpoint varchar not null,
    row_key varchar not null,
    kind varchar not null,
    columns varchar[] not null,
    noticed_at timestamptz not null,
    run_id varchar not null
);

-- Ids that rows of other lists mention and that nobody has looked up yet, so that a sync need not search all of raw
-- for them. Written with the rows that mention them, taken out with the answer.
create table control.mentions (
    practice_id varchar not null,
    endpoint varchar not null,
    id varchar not null
);

create index mentions_id on control.mentions (id);
create index lookups_id on control.lookups (id);
create index missing_records_id on control.missing_records (id);

-- The days of which rows were written, changed or marked as deleted since the marts were last built from all of them:
-- a call's day, of other rows the UTC day of `created_at`, null where there is none. Written with the rows themselves.
create table control.changes (
    practice_id varchar not null,
    table_name varchar not null,
    day date
);

-- The last build of the marts, one row: what it was built with and from, whether in full, and whether every model was.
create table control.builds (
    fingerprint varchar not null,
    practices varchar,
    source_clock timestamptz,
    is_full boolean not null,
    is_complete boolean not null,
    build_id varchar
);

-- How the last attempt to read each list ended, one row for each; `certified_through` is that of the last attempt that told one.
-- `finished_at` is of this machine's clock, and so is `read_at`, when the list was last read without a failure.
create table control.attempts (
    practice_id varchar not null,
    endpoint varchar not null,
    run_id varchar not null,
    command varchar not null,
    state varchar not null,
    reason varchar not null,
    certified_through varchar,
    finished_at timestamptz not null,
    read_at timestamptz
);

-- Spellings of telephone numbers that are not E.164, and what each stands for in the region of its practice: null where it
-- is no number there. A number that is E.164 already stands for itself, and is not kept here.
create table control.phone_numbers (
    practice_id varchar not null,
    spelling varchar not null,
    e164 varchar
);

-- The region (ISO 3166, two letters) by which the spellings of a practice were read; null where none is known.
create table control.phone_regions (
    practice_id varchar not null,
    region varchar
);

-- That somebody was forgotten, and when: never who. The pseudonym stands in the place of the client's id.
create table control.forgotten (
    practice_id varchar not null,
    pseudonym varchar not null,
    rows bigint not null,
    forgotten_at timestamptz not null
);

-- By which values a forgotten person is recognised when the platform sends them again, and their pseudonyms: keyed digests of
-- ids, numbers, addresses and names, never the values. `span` counts the words or the digits that a value has.
create table control.forgotten_values (
    practice_id varchar not null,
    kind varchar not null,
    span integer not null,
    digest varchar not null,
    pseudonym varchar not null
);

-- The key of a practice's digests: ids are so short that anybody could try them all without it.
create table control.forgotten_keys (
    practice_id varchar not null,
    key varchar not null
);

-- The acts of `vetl act`, copied from its ledger without names, numbers and words of tasks. An act that the ledger has lost
-- stays. `episode_id` is null if only the code of the task is known.
create table control.acts (
    practice_id varchar not null,
    code varchar not null,
    kind varchar not null,
    episode_id varchar,
    state varchar not null,
    planned_at timestamptz not null,
    asked_at timestamptz,
    approved_by varchar,
    certified_through timestamptz,
    task_id varchar,
    found_by varchar
);

-- What `vetl forecast` predicted, hour by hour. Rows are added and never changed, and none is about an hour that had begun.
-- `made_on` is the practice-local day of `made_at`: a practice has one forecast a day.
create table control.forecasts (
    practice_id varchar not null,
    made_on date not null,
    made_at timestamptz not null,
    weeks integer not null,
    day date not null,
    hour integer not null,
    begins_at timestamptz not null,
    calls double not null,
    calls_low double not null,
    calls_high double not null,
    calls_naive double not null,
    bookable_calls double not null,
    bookable_calls_low double not null,
    bookable_calls_high double not null,
    bookable_calls_naive double not null,
    staff_minutes double not null,
    staff_minutes_low double not null,
    staff_minutes_high double not null,
    staff_minutes_naive double not null,
    check (made_at < begins_at)
);

-- Facts that vetl has found in the marts. `measure` names a fact among those of a practice that begin on one day; `counted`,
-- `part`, `hour` and `weekday` say which counts it is about. `rank` is the place among the present ones, null if it is over.
create table control.headlines (
    practice_id varchar not null,
    measure varchar not null,
    since date not null,
    until date,
    first_seen date not null,
    direction varchar not null,
    value double not null,
    usual double not null,
    people bigint not null,
    sureness double not null,
    rank bigint,
    made_of varchar not null,
    words varchar not null,
    shape varchar not null,
    counted varchar not null,
    part varchar,
    cases double not null,
    of_cases double not null,
    distance double not null,
    hour integer,
    until_hour integer,
    weekday integer,
    primary key (practice_id, measure, since)
);
