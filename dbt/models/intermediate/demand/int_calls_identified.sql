with calls as (
    select * from {{ ref('int_phone_calls') }}
),

identified as (
    select
        calls.practice_id,
        calls.call_key,
        'call:' || calls.call_key as contact,
        coalesce(calls.client_id, clients.client_id, phones.client_id) as client_id,
        calls.phone,
        calls.direction,
        calls.state,
        calls.call_classification,
        calls.outcome,
        calls.booked,
        calls.is_inbound,
        calls.is_new_booking_intent,
        calls.is_missed_new_booking,
        calls.day,
        calls.called_at
    from calls
    left join {{ ref('int_remote_clients') }} as clients
        on
            calls.practice_id = clients.practice_id
            and calls.remote_client_id = clients.remote_client_id
    left join {{ ref('int_client_phones') }} as phones
        on
            calls.practice_id = phones.practice_id
            and calls.phone = phones.phone
)

select
    *,
    {{ party('client_id', 'phone', 'contact') }} as party
from identified
