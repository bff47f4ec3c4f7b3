with superseded as (
    select * from {{ source('history', 'phone_calls') }}
),

latest as (
    select * from {{ source('partner', 'phone_calls') }}
),

versions as (
    select
        practice_id,
        call_key,
        call_date as day,
        booking_intent,
        booked,
        _valid_from as valid_from,
        _valid_to as valid_to
    from superseded
    union all
    select
        practice_id,
        call_key,
        call_date as day,
        booking_intent,
        booked,
        _loaded_at as valid_from,
        _deleted_at as valid_to
    from latest
)

select * from versions
