with requests as (
    select * from {{ ref('stg_partner__ai_outbound_requests') }}
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
    coalesce(
        {{ hours_between('requests.created_at', own_clock()) }} >= {{ var('mature_after_hours') }}, false
    ) as is_mature,

    -- times
    cast(requests.created_at_local as date) as day,
    requests.created_at,
    requests.created_at_local,
    requests.contacted_at,
    requests.contacted_at_local,
    requests.completed_at,
    requests.completed_at_local
from requests
{{ with_own_clock('requests') }}
