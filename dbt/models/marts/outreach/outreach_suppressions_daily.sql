{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['practice_id', 'day', 'purpose', 'suppression_reason'],
) }}
{%- if is_incremental() %}
{{- set_scope('select practice_id, day from ' ~ changed(ref('outreach_requests'))) }}
{%- endif %}

select
    practice_id,
    day,
    purpose,
    suppression_reason,
    count(*) as requests
from {{ in_scope(ref('outreach_requests'), ['practice_id', 'day']) }}
where status = 'suppressed'
group by practice_id, day, purpose, suppression_reason
