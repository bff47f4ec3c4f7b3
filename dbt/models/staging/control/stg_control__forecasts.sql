with source as (
    select * from {{ source('control', 'forecasts') }}
),

renamed as (
    select
        practice_id,
        made_on,
        made_at,
        weeks,
        day,
        hour,
        begins_at,
        calls as calls_expected,
        calls_low,
        calls_high,
        calls_naive,
        bookable_calls as bookable_calls_expected,
        bookable_calls_low,
        bookable_calls_high,
        bookable_calls_naive,
        staff_minutes as staff_minutes_expected,
        staff_minutes_low,
        staff_minutes_high,
        staff_minutes_naive
    from source
)

select * from renamed
