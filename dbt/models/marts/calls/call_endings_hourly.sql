{{ config(meta={'counts': {
    'rows': 'phone_calls',
    'from': '(from marts.phone_calls where direction = \'inbound\')',
    'by': {'hour': 'cast(extract(hour from called_at_local) as int)'},
}}) }}

with calls as (
    select
        practice_id,
        extract(hour from called_at_local) as hour,
        call_classification,
        ending
    from {{ ref('phone_calls') }}
    where direction = 'inbound'
)

select
    practice_id,
    cast(hour as int) as hour,
    call_classification,
    count(*) as calls,
    count(*) filter (where ending = 'resolved') as resolved,
    count(*) filter (where ending = 'handed_over') as handed_over,
    count(*) filter (where ending = 'lost') as lost,
    {{ rate(
        'count(*) filter (where ending = \'resolved\')',
        'count(*) filter (where ending in (\'resolved\', \'handed_over\', \'lost\'))',
    ) }} as containment_rate
from calls
group by practice_id, hour, call_classification
