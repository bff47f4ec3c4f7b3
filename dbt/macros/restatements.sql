{#- The count that a report 24 hours after the day's end could have shown, from the rows that vetl had seen by
   then, and the count now, one row for each of `counts`. `versions` has a row for each version of a thing, with
   the `day` it counts for, the time when the source showed it (`valid_from`, `valid_to`) and a boolean for each
   of `counts`: whether the version is counted there. -#}
{% macro restatements(mart, versions, counts) -%}
{{ mart }}_shown as (
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

{{ mart }}_counted as (
    select
        practice_id,
        day,
        -- A day that was read later than that had no report.
        coalesce(min(valid_from) <= min(reported_at), false) as has_report,
        {%- for name in counts %}
        count(*) filter (where was_shown and {{ name }}) as {{ name }}_then,
        count(*) filter (where is_shown and {{ name }}) as {{ name }}_now{{ ',' if not loop.last }}
        {%- endfor %}
    from {{ mart }}_shown
    group by practice_id, day
),

{{ mart }}_revisions as (
    {%- for name in counts %}
    select
        practice_id,
        day,
        '{{ mart }}' as mart,
        '{{ name }}' as measure,
        case when has_report then {{ name }}_then end as reported,
        {{ name }}_now as now
    from {{ mart }}_counted
    {{ 'union all' if not loop.last }}
    {%- endfor %}
)
{%- endmacro %}
