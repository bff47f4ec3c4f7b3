-- When each list was last read without a failure, by this machine's clock, as `finished_at` is: a failed attempt keeps it.
alter table control.attempts add column read_at timestamptz;

update control.attempts set read_at = coalesce(
    if(state = 'failed', null, finished_at),
    (
        select max(runs.finished_at)
        from control.windows as windows
        inner join control.runs as runs on windows.run_id = runs.run_id
        where windows.certified
            and windows.practice_id = attempts.practice_id
            and windows.endpoint = attempts.endpoint
            and windows.run_id <> attempts.run_id
    )
);
