{{ config(materialized=var('by_scope'), incremental_strategy='scope', unique_key=['practice_id', 'request_id']) }}
{%- if is_incremental() %}
{%- set scope %}
    {{ ids_of_changed_days('ai_outbound_requests', ref('stg_partner__ai_outbound_requests'), 'request_id') }}
union
    select practice_id, request_id from {{ this }}
    where not is_mature and {{ became_older_than(96, 'created_at') }}
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

with requests as (
    select * from {{ in_scope(ref('stg_partner__ai_outbound_requests'), ['practice_id', 'request_id']) }}
),

clock as (
    select * from {{ ref('int_source_clock') }}
)

select
    -- ids
    requests.practice_id,
    requests.request_id,
    requests.partner_request_id,
    requests.client_id,
    requests.patient_id,

    -- text
    requests.channel,
    requests.purpose,
    requests.status,
    requests.outcome,
    requests.suppression_reason,
    requests.error_message,
    requests.contact_number,
    requests.context,

    -- numerics
    {{ hours_between('requests.created_at', 'requests.contacted_at') }} as hours_to_contact,
    case
        when requests.outcome is not null
            then {{ hours_between('requests.created_at', 'requests.completed_at') }}
    end as hours_to_outcome,

    -- booleans
    requests.contacted_at is not null as is_contacted,
    coalesce(requests.status in ('received', 'queued', 'in_progress'), false) as is_open,
    coalesce(requests.status = 'failed', false)
    and coalesce(requests.outcome, '') != 'undeliverable' as is_failed_undispatched,
    -- The sweeper ends what is still open after 96 hours.
    coalesce({{ hours_between('requests.created_at', 'clock.source_clock') }} >= 96, false) as is_mature,

    -- times
    cast(requests.created_at_local as date) as day,
    requests.created_at,
    requests.created_at_local,
    requests.contacted_at,
    requests.contacted_at_local,
    requests.completed_at,
    requests.completed_at_local
from requests
cross join clock
