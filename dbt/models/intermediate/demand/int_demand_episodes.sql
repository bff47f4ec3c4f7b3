select
    facts.* except (digest),
    case
        when
            facts.booked_at is null
            and {{ hours_between('facts.last_at', 'clock.source_clock') }} > {{ var('lost_after_days') }} * 24
            then facts.last_at + interval {{ var('lost_after_days') * 24 }} hours
    end as lost_at
from {{ ref('int_demand_episode_facts') }} as facts
cross join {{ ref('int_source_clock') }} as clock
