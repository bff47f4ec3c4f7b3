with requests as (
    select
        requests.*,
        {{ on_the_wall('requests', ['created_at', 'contacted_at', 'completed_at']) }}
    from {{ ref('stg_partner__ai_outbound_requests') }} as requests
    left join {{ ref('stg_control__practices') }} as practices
        on requests.practice_id = practices.practice_id
)

select
    requests.*,
    {{ hours_between('requests.created_at', 'requests.contacted_at') }} as hours_to_contact,
    case
        when requests.outcome is not null
            then {{ hours_between('requests.created_at', 'requests.completed_at') }}
    end as hours_to_outcome,
    requests.contacted_at is not null as is_contacted,
    coalesce(requests.status in ('received', 'queued', 'in_progress'), false) as is_open,
    coalesce(requests.status = 'failed', false)
    and coalesce(requests.outcome, '') != 'undeliverable' as is_failed_undispatched,
    coalesce(
        {{ hours_between('requests.created_at', own_clock()) }} >= {{ var('mature_after_hours') }}, false
    ) as is_mature,
    cast(requests.created_at_local as date) as day
from requests
{{ with_own_clock('requests') }}
