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
