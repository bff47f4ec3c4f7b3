-- Written once, when it is published.
{{ config(materialized='view' if target.type == 'duckdb' else 'table') }}

select
    {{ all_except('calls', ['call_client_id', 'phone', 'contact', 'person', 'is_inbound']) }},
    {{ call_ending('calls.outcome', 'calls.is_answered') }} as ending,
    coalesce({{ is_open_at('calls.practice_id', 'calls.called_at_local') }}, false) as is_open
from {{ ref('int_phone_calls') }} as calls
