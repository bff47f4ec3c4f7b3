{#- The time up to which a practice was read, for joins of `with_own_clock`: that of the last run if the practice is
   no longer configured. -#}
{% macro own_clock() -%}
    coalesce(own_clocks.as_of, last_runs.source_clock)
{%- endmacro %}

{% macro with_own_clock(rows) -%}
    cross join {{ ref('int_source_clock') }} as last_runs
    left join {{ ref('int_practice_clocks') }} as own_clocks
        on {{ rows }}.practice_id = own_clocks.practice_id
{%- endmacro %}
