-- Written once, when it is published.
{{ config(materialized='view' if target.type == 'duckdb' else 'table') }}

select
    {{ all_except('calls', ['call_client_id', 'phone', 'contact', 'person', 'is_inbound']) }},
    calls.wanted as wish
from {{ ref('int_phone_calls') }} as calls
