{{ config(meta={'counts': {
    'rows': 'phone_calls',
    'from': '(from marts.phone_calls where direction = \'inbound\')',
    'by': {'is_open': 'is_open'},
}}) }}

with counted as (
    select
        practice_id,
        day,
        is_open,
        call_classification,
        count(*) as calls,
        count(*) filter (where is_answered) as answered,
        count(*) filter (where ending = 'resolved') as resolved,
        count(*) filter (where ending = 'handed_over') as handed_over,
        count(*) filter (where ending = 'lost') as lost,
        count(*) filter (where ending = 'other') as other
    from {{ ref('phone_calls') }}
    where direction = 'inbound'
    group by practice_id, day, is_open, call_classification
)

select
    *,
    {{ rate('resolved', 'resolved + handed_over + lost') }} as containment_rate
from counted
