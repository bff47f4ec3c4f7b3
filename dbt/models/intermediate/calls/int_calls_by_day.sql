-- depends_on: {{ ref('stg_control__changes') }}
{{ config(
    materialized='incremental' if target.type == 'duckdb' else 'table',
    incremental_strategy='delete+insert',
    unique_key=['practice_id', 'day'],
) }}

with
{%- if is_incremental() %}
-- The days on which calls changed, and those of a call that has another caller now.
changed as (
    select
        practice_id,
        day
    from {{ ref('stg_control__changes') }}
    where table_name = 'phone_calls'
    union
    select
        built.practice_id,
        built.day
    from {{ this }} as built
    {{ with_callers('built', 'call_client_id') }}
    where
        built.client_id is distinct from callers.client_id
        or built.phone is distinct from callers.phone
        or built.caller_key is distinct from callers.caller_key
),
{%- endif %}

calls as (
    select * from {{ ref('stg_partner__phone_calls') }}
    {% if is_incremental() %}
    where (practice_id, day) in (select practice_id, day from changed)
    {% endif %}
),

identified as (
    select
        {{ all_except('calls', ['client_id']) }},
        calls.client_id as call_client_id,
        callers.client_id,
        callers.phone,
        callers.caller_key,
        'call:' || calls.call_key as contact,
        {{ intent_of('calls.outcome', 'calls.booking_intent') }} as intent,
        coalesce(calls.direction = 'inbound', false) as is_inbound,
        {{ is_one_of('calls.state', var('answered_states')) }} as is_answered,
        coalesce(calls.booking_intent, false) and not coalesce(calls.booked, false) as is_missed_intent
    from calls
    {{ with_callers('calls', 'client_id') }}
)

select
    *,
    {{ person('client_id', 'phone', 'contact') }} as person,
    coalesce(intent = 'new_booking', false) as is_new_booking_intent,
    coalesce(intent = 'new_booking', false) and coalesce(booked, false) as is_new_booking,
    coalesce(intent = 'new_booking', false) and is_missed_intent as is_missed_new_booking
from identified
{%- if is_incremental() %}
-- A day that has no call left has a row of its own, so that its calls go.
union all by name
select
    changed.practice_id,
    changed.day
from changed
left join calls
    on
        changed.practice_id = calls.practice_id
        and changed.day = calls.day
where calls.day is null
{%- endif %}
