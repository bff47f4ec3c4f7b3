-- depends_on: {{ ref('stg_control__changes') }}, {{ ref('stg_partner__phone_calls') }}
{{ config(
    materialized='incremental' if target.type == 'duckdb' else 'table',
    incremental_strategy='append',
    pre_hook='{{ take_out_changed_calls(\'int_callers\') }}',
) }}

with calls as (
    select * from {{ ref('int_phone_calls') }}
    {% if is_incremental() %}
    where (practice_id, day) in (
        select practice_id, day from {{ ref('stg_partner__phone_calls') }}
        except
        select practice_id, day from {{ this }}
    )
    {% endif %}
),

identified as (
    select
        calls.practice_id,
        calls.call_key,
        'call:' || calls.call_key as contact,
        callers.client_id,
        callers.phone,
        callers.caller_key,
        callers.digest,
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
    {{ with_callers('calls') }}
)

select
    *,
    {{ person('client_id', 'phone', 'contact') }} as person
from identified
