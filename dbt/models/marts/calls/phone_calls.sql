-- depends_on: {{ ref('stg_control__changes') }}
{{ config(
    materialized='incremental' if target.type == 'duckdb' else 'table',
    incremental_strategy='append',
    pre_hook='{{ take_out_noted(\'practice_id, day\', changed_days()) }}',
    post_hook='{{ note_put_in(\'practice_id, day\', changed_days()) }}',
) }}

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
    wish,
    client_name,
    patient_name,
    phone_number,
    summary,

    -- numerics
    duration_seconds,

    -- booleans
    booking_intent,
    booked,
    is_answered,
    is_missed_intent,
    is_new_booking_intent,
    is_new_booking,
    is_missed_new_booking,

    -- times
    day,
    called_at_local,
    called_at,
    created_at
from {{ ref('int_phone_calls') }}
{% if is_incremental() %}
where (practice_id, day) in ({{ changed_days() }})
{% endif %}
