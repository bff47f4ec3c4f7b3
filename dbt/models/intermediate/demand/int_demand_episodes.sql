select
    facts.practice_id,
    facts.episode_id,
    facts.person,
    facts.client_id,
    facts.phone,
    facts.contacts,
    facts.client_contacts,
    facts.first_channel,
    facts.begun_by,
    facts.has_client_contact,
    facts.first_at,
    facts.day,
    facts.last_channel,
    facts.last_contact_id,
    facts.last_contact_at,
    facts.last_at,
    facts.wanted,
    facts.last_result,
    facts.booked_via,
    facts.booked_at,
    facts.appointment_id,
    facts.attribution,
    facts.appointment_status,
    facts.is_kept,
    facts.hours_to_booking,
    facts.followed_up_at,
    case
        when
            facts.booked_at is null
            and {{ hours_between('facts.last_at', own_clock()) }} > {{ var('lost_after_days') }} * 24
            then facts.last_at + interval {{ var('lost_after_days') * 24 }} hours
    end as lost_at
from {{ ref('int_demand_episode_facts') }} as facts
{{ with_own_clock('facts') }}
