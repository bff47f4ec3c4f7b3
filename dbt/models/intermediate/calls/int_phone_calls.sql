with calls as (
    select * from {{ ref('stg_partner__phone_calls') }}
),

judged as (
    select
        calls.*,
        spellings.e164 as phone,
        {{ wanted('calls.outcome', 'calls.booking_intent') }} as wanted,
        coalesce(calls.direction = 'inbound', false) as is_inbound,
        {{ is_one_of('calls.state', var('answered_states')) }} as is_answered,
        coalesce(calls.booking_intent, false) and not coalesce(calls.booked, false) as is_missed_intent
    from calls
    left join {{ ref('stg_control__phone_numbers') }} as spellings
        on
            calls.practice_id = spellings.practice_id
            and calls.phone_number = spellings.spelling
)

select
    *,
    coalesce(wanted = 'new_booking', false) as is_new_booking_intent,
    coalesce(wanted = 'new_booking', false) and coalesce(booked, false) as is_new_booking,
    coalesce(wanted = 'new_booking', false) and is_missed_intent as is_missed_new_booking
from judged
