{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['practice_id', 'channel', 'contact_id'],
) }}
{%- if is_incremental() %}
{%- set scope %}
    select practice_id, party from {{ changed(ref('int_demand_parties')) }}
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

with parties as (
    select * from {{ in_scope(ref('int_demand_parties'), ['practice_id', 'party']) }}
),

ordered as (
    select
        *,
        lag(began_at) over (
            partition by practice_id, party
            order by began_at, channel, contact_id
        ) as previous_at
    from parties
),

-- More than 14 days of silence, and the next contact is another wish.
gaps as (
    select
        *,
        coalesce({{ hours_between('previous_at', 'began_at') }} > 14 * 24, true) as is_first
    from ordered
),

numbered as (
    select
        *,
        count(*) filter (where is_first) over (
            partition by practice_id, party
            order by began_at, channel, contact_id
            rows between unbounded preceding and current row
        ) as episode
    from gaps
)

select
    practice_id,
    first_value(channel || ':' || contact_id) over (
        partition by practice_id, party, episode
        order by began_at, channel, contact_id
    ) as episode_id,
    channel,
    contact_id,
    party,
    client_id,
    began_at,
    is_booked,
    case when is_booked then booked_at end as booked_at,
    case when is_booked then appointment_id end as appointment_id,
    case when is_booked then attribution end as attribution,
    result
from numbered
