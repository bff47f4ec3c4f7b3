with unbooked as (
    select * from {{ ref('int_unbooked_requests') }}
    where is_actionable
)

select
    practice_id,
    episode_id,
    client_id,
    last_channel as channel,
    last_contact_at as last_at,
    age_hours,
    last_result as reason,
    last_channel as last_contact_kind,
    last_contact_id,
    phone as phone_number,
    wanted,
    client_contacts as contacts,
    -- Those that can wait come last. Then emergencies first, then the most attempts, then the newest.
    cast(
        row_number() over (
            partition by practice_id
            order by
                can_wait asc,
                case when wanted = 'emergency' then 0 else 1 end asc,
                client_contacts desc,
                last_contact_at desc,
                episode_id asc
        ) as bigint
    ) as urgency
from unbooked
order by practice_id, urgency
