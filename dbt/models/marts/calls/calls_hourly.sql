{{ config(meta={'counts': {
    'rows': 'phone_calls',
    'from': '(from marts.phone_calls where direction = \'inbound\')',
    'by': {'hour': 'cast(extract(hour from called_at_local) as int)'},
}}) }}

with counted as (
    select
        practice_id,
        day,
        cast(extract(hour from called_at_local) as int) as hour,
        bool_or(is_open) as is_open,
        count(*) as calls,
        count(*) filter (where is_answered) as answered,
        count(*) filter (where not is_answered) as unanswered,
        count(*) filter (where ending = 'resolved') as resolved,
        count(*) filter (where ending = 'handed_over') as handed_over,
        count(*) filter (where ending = 'lost') as lost
    from {{ ref('phone_calls') }}
    where direction = 'inbound'
    group by practice_id, day, cast(extract(hour from called_at_local) as int)
)

select
    *,
    {{ rate('answered', 'calls') }} as answered_rate,
    {{ rate('resolved', 'resolved + handed_over + lost') }} as containment_rate
from counted
