with episodes as (
    select
        facts.*,
        {{ hours_between('facts.first_at', own_clock()) }} as age_hours,
        case
            when
                facts.booked_at is null
                and {{ hours_between('facts.last_at', own_clock()) }} > {{ var('lost_after_days') }} * 24
                then facts.last_at + interval {{ var('lost_after_days') * 24 }} hours
        end as lost_at
    from {{ ref('int_booking_request_facts') }} as facts
    {{ with_own_clock('facts') }}
)

select
    practice_id,
    episode_id,
    person,
    client_id,
    phone,
    contacts,
    client_contacts,
    first_channel,
    begun_by,
    has_client_contact,
    first_at,
    day,
    last_channel,
    last_contact_id,
    last_contact_at,
    last_at,
    wanted,
    last_result,
    booked_via,
    booked_at,
    appointment_id,
    attribution,
    appointment_status,
    is_kept,
    hours_to_booking,
    followed_up_at,
    lost_at,
    client_id is null and phone is null as is_anonymous,
    age_hours > 14 * 24
    and (booked_at is not null or lost_at is not null) as is_mature
from episodes
