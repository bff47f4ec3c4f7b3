{%- set is_open, ending = is_open_at('practice_id', 'called_at_local'), call_ending('outcome', 'is_answered') -%}
{#- The published file is DuckDB's, whatever the engine. -#}
{{ config(meta={'counts': {
    'rows': 'phone_calls',
    'from': '(select *, coalesce('
        ~ is_open_at('practice_id', 'called_at_local', duckdb__iso_weekday)
        ~ ', false) as is_open, ' ~ ending ~ ' as ending'
        ~ ' from marts.phone_calls where direction = \'inbound\')',
    'by': {'is_open': 'is_open'},
}}) }}

with calls as (
    select
        practice_id,
        day,
        call_classification,
        coalesce({{ is_open }}, false) as is_open,
        is_answered,
        {{ ending }} as ending
    from {{ ref('phone_calls') }}
    where direction = 'inbound'
),

counted as (
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
        count(*) filter (where ending not in ('resolved', 'handed_over', 'lost')) as other
    from calls
    group by practice_id, day, is_open, call_classification
)

select
    *,
    {{ rate('resolved', 'resolved + handed_over + lost') }} as containment_rate
from counted
