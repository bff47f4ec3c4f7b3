-- depends_on: {{ ref('stg_control__changes') }}, {{ ref('int_calls_identified') }}
-- depends_on: {{ ref('stg_partner__phone_calls') }}
{{ config(
    materialized='incremental' if target.type == 'duckdb' else 'table',
    incremental_strategy='append',
    pre_hook='{{ take_out_days(days_of_other_callers(\'int_calls_identified\')) }}',
    post_hook='{{ note_put_in() }}',
) }}

select
    -- ids
    calls.practice_id,
    calls.call_key,
    calls.call_id,
    callers.client_id,
    callers.caller_key,
    calls.remote_client_id,
    calls.patient_id,
    calls.remote_patient_id,

    -- text
    calls.practice_name,
    calls.direction,
    calls.state,
    calls.caller_type,
    calls.call_classification,
    calls.customer_sentiment,
    calls.outcome,
    calls.wanted,
    calls.wanted as wish,
    calls.client_name,
    calls.patient_name,
    calls.phone_number,
    calls.summary,

    -- numerics
    calls.duration_seconds,

    -- booleans
    calls.booking_intent,
    calls.booked,
    calls.is_answered,
    calls.is_missed_intent,
    calls.is_new_booking_intent,
    calls.is_new_booking,
    calls.is_missed_new_booking,

    -- times
    calls.day,
    calls.called_at_local,
    calls.called_at,
    calls.created_at
from {{ ref('int_phone_calls') }} as calls
{{ with_callers('calls') }}
{% if is_incremental() %}
where
    (calls.practice_id, calls.day) in (
        select practice_id, day from {{ ref('stg_partner__phone_calls') }}
        except
        select practice_id, day from {{ this }}
    )
{% endif %}
