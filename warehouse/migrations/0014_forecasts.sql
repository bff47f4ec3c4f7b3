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
