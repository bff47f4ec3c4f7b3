{{ config(materialized=var('by_scope'), incremental_strategy='scope', unique_key=['practice_id', 'episode_id']) }}
{%- if is_incremental() %}
{%- set scope %}
    select practice_id, episode_id from {{ changed(ref('int_demand_episodes')) }}
union
    select practice_id, episode_id from {{ ref('int_demand_episodes') }}
    where booked_via is null and {{ became_older_than(14 * 24, 'last_at') }}
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

with episodes as (
    select * from {{ in_scope(ref('int_demand_episodes'), ['practice_id', 'episode_id']) }}
),

clock as (
    select * from {{ ref('int_source_clock') }}
)

select
    episodes.practice_id,
    episodes.episode_id,
    episodes.client_id,
    episodes.first_channel,
    episodes.first_at,
    episodes.contacts,
    episodes.booked_via,
    episodes.booked_at,
    episodes.appointment_id,
    episodes.attribution,
    {{ hours_between('episodes.first_at', 'episodes.booked_at') }} as hours_to_booking,
    {{ lost_at('episodes', 'clock') }} as lost_at
from episodes
cross join clock
