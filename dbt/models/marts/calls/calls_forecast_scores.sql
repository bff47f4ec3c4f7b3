{%- set measures = ['calls', 'bookable_calls', 'staff_minutes'] -%}
with judged as (
    {%- for measure in measures %}
    select
        practice_id,
        cast(date_trunc('week', day) as date) as week,
        '{{ measure }}' as measure,
        {{ measure }}_counted between {{ measure }}_low and {{ measure }}_high as is_within,
        abs({{ measure }}_counted - {{ measure }}_expected) as error,
        abs({{ measure }}_counted - {{ measure }}_naive) as naive_error
    from {{ ref('calls_forecast') }}
    where is_over
    {{- '\n    union all' if not loop.last }}
    {%- endfor %}
)

select
    practice_id,
    week,
    measure,
    count(*) as hours,
    count(*) filter (where is_within) as hours_within,
    {{ rate('count(*) filter (where is_within)', 'count(*)') }} as coverage,
    sum(error) as error,
    sum(naive_error) as naive_error,
    sum(error) / nullif(sum(naive_error), 0) as error_beside_naive
from judged
group by practice_id, week, measure
