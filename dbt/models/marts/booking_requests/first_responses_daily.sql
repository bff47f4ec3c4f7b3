select
    practice_id,
    day,
    channel,
    count(*) as contacts,
    count(*) filter (where hours_to_response * 60 <= 5) as responded_within_5_minutes,
    count(*) filter (where hours_to_response <= 1) as responded_within_1_hour,
    count(*) filter (where hours_to_response <= 24) as responded_within_1_day,
    count(hours_to_response) as responded,
    {{ median('hours_to_response') }} as median_hours_to_response
from {{ ref('int_first_responses') }}
group by practice_id, day, channel
