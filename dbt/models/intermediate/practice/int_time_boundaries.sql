{{ config(materialized='table') }}

with boundaries as (
    select
        'the day ends' as what,
        ends_at as happens_at
    from {{ ref('int_practice_days') }}
    union all
    select
        'a day is final' as what,
        ends_at + interval {{ final_after_hours() }} hours as happens_at
    from {{ ref('int_practice_days') }}
    union all
    select
        'outreach is mature' as what,
        created_at + interval {{ var('mature_after_hours') }} hours as happens_at
    from {{ ref('stg_partner__ai_outbound_requests') }}
    union all
    select
        'a cohort is whole' as what,
        first_at + interval 336 hours as happens_at
    from {{ ref('int_booking_requests') }}
    {%- for what, since, days in [
        ('an episode is lost', 'last_at', 'lost_after_days'),
        ('a call back can wait', 'last_contact_at', 'lost_after_days'),
        ('a request is too old', 'last_contact_at', 'call_back_within_days'),
    ] %}
    union all
    select
        '{{ what }}' as what,
        {{ since }} + interval {{ var(days) * 24 }} hours as happens_at
    from {{ ref('int_booking_requests') }}
    where booked_at is null
    {%- endfor %}
    union all
    select
        'an appointment ahead is past' as what,
        visit_at as happens_at
    from {{ ref('int_unbooked_requests') }}
)

select
    boundaries.what,
    min(boundaries.happens_at) as next_at
from boundaries
cross join {{ ref('int_source_clock') }} as clock
where boundaries.happens_at > clock.source_clock
group by boundaries.what
