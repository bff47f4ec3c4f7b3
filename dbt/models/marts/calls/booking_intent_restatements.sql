with versions as (
    select
        practice_id,
        day,
        valid_from,
        valid_to,
        true as calls,
        booking_intent as intent_calls,
        booked as booked_calls
    from {{ ref('stg_history__phone_calls') }}
),

{{ restatements('versions', ['calls', 'intent_calls', 'booked_calls']) }}
