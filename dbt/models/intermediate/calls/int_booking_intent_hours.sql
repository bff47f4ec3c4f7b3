{{ config(materialized=var('by_scope'), incremental_strategy='scope', unique_key=['practice_id', 'weekday', 'hour']) }}

with calls as (
    select
        practice_id,
        cast({{ iso_weekday('day') }} as int) as weekday,
        cast(extract(hour from called_at_local) as int) as hour,
        weight as calls,
        case when booking_intent then weight else 0 end as intent_calls,
        case when booked then weight else 0 end as booked_calls,
        case when booking_intent and booked then weight else 0 end as intent_booked_calls,
        case when is_missed_intent then weight else 0 end as missed_intent_calls
    from {{ weighted(ref('phone_calls')) }} as weighted_calls
    {%- if is_incremental() %}
    union all
    select
        practice_id,
        weekday,
        hour,
        calls,
        intent_calls,
        booked_calls,
        intent_booked_calls,
        missed_intent_calls
    from {{ this }}
    {%- endif %}
)

select
    practice_id,
    weekday,
    hour,
    {{ total('calls') }} as calls,
    {{ total('intent_calls') }} as intent_calls,
    {{ total('booked_calls') }} as booked_calls,
    {{ total('intent_booked_calls') }} as intent_booked_calls,
    {{ total('missed_intent_calls') }} as missed_intent_calls
from calls
group by practice_id, weekday, hour
having sum(calls) > 0
