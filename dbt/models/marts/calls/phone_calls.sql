-- depends_on: {{ ref('stg_control__changes') }}, {{ ref('int_calls_identified') }}
-- depends_on: {{ ref('stg_partner__phone_calls') }}
{{ config(
    materialized='incremental' if target.type == 'duckdb' else 'table',
    incremental_strategy='append',
    pre_hook='{{ take_out_days(days_of_other_callers(\'int_calls_identified\')) }}',
    post_hook='{{ note_put_in() }}',
) }}

select
    {{ all_except('calls', ['client_id', 'phone', 'is_inbound']) }},
    callers.client_id,
    callers.caller_key,
    calls.wanted as wish,
    {{ call_ending('calls.outcome', 'calls.is_answered') }} as ending,
    coalesce({{ is_open_at('calls.practice_id', 'calls.called_at_local') }}, false) as is_open
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
