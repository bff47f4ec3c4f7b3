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
