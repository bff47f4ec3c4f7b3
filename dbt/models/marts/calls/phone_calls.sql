{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['practice_id', 'call_key', 'day'],
) }}
{%- if is_incremental() %}{{ set_scope(changed_days('phone_calls')) }}{% endif %}

select
    -- ids
    practice_id,
    call_key,
    call_id,
    client_id,
    remote_client_id,
    patient_id,
    remote_patient_id,

    -- text
    practice_name,
    direction,
    state,
    caller_type,
    call_classification,
    customer_sentiment,
    outcome,
    client_name,
    patient_name,
    phone_number,
    summary,

    -- numerics
    duration_seconds,

    -- booleans
    booking_intent,
    booked,
    coalesce(booking_intent, false) and not coalesce(booked, false) as is_missed_intent,

    -- times
    day,
    called_at_local,
    called_at,
    created_at
from {{ in_scope(ref('stg_partner__phone_calls'), ['practice_id', 'day']) }}
