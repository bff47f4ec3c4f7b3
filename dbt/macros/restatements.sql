{#-
    What a report 24 hours after the day's end could have said, as far as vetl had seen by then, and what is known now.
    `versions` has a row for each version of a thing, with the `day` it counts for, when the source showed it
    (`valid_from`, `valid_to`) and a boolean for each of `counts`: whether the version is counted there.
-#}
{% macro restatements(versions, counts) -%}
-- A day that is not over has no report.
reports as (
    select
        practice_id,
        day,
        ends_at + interval 24 hours as reported_at
    from {{ ref('practice_days') }}
    where is_over
),

shown as (
    select
        {{ versions }}.*,
        reports.reported_at,
        {{ versions }}.valid_to is null as is_shown,
        {{ versions }}.valid_from <= reports.reported_at
        and coalesce({{ versions }}.valid_to > reports.reported_at, true) as was_shown
    from {{ versions }}
    left join reports
        on
            {{ versions }}.practice_id = reports.practice_id
            and {{ versions }}.day = reports.day
),

counted as (
    select
        practice_id,
        day,
        -- A day that was read later than that had no report.
        coalesce(min(valid_from) <= min(reported_at), false) as has_report,
        {%- for name in counts %}
        count(*) filter (where was_shown and shown.{{ name }}) as {{ name }}_then,
        count(*) filter (where is_shown and shown.{{ name }}) as {{ name }}{{ ',' if not loop.last }}
        {%- endfor %}
    from shown
    group by practice_id, day
)

select
    practice_id,
    day,
    {%- for name in counts %}
    case when has_report then {{ name }}_then end as {{ name }}_then,
    {{ name }},
    {%- endfor %}
    case
        when has_report
            then {% for name in counts %}{{ name }}_then != {{ name }}{{ ' or ' if not loop.last }}{% endfor %}
    end as is_restated
from counted
{%- endmacro %}
