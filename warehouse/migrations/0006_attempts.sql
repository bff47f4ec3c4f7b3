-- How the last attempt to read each list ended, one row for each; `certified_through` is that of the last attempt that told one.
-- `finished_at` is this machine's clock: it says how old the answer is.
create table control.attempts (
    practice_id varchar not null,
    endpoint varchar not null,
    run_id varchar not null,
    command varchar not null,
    state varchar not null,
    reason varchar not null,
    certified_through varchar,
    finished_at timestamptz not null
);

insert into control.attempts
select list.practice_id, list.endpoint, run_id, command, list.state, list.reason, list.certified_through, finished_at
from (
    select run_id, command, finished_at, unnest(from_json(
        json_extract(summary, '$.results'),
        '[{"practice_id": "VARCHAR", "endpoint": "VARCHAR", "state": "VARCHAR", "reason": "VARCHAR",
           "certified_through": "VARCHAR"}]'
    )) as list
    from control.runs where finished_at is not null and json_extract(summary, '$.results') is not null
)
qualify row_number() over (partition by list.practice_id, list.endpoint order by finished_at desc) = 1;
