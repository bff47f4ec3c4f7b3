{#- Opening hours between two times of the wall clock, from `opening_hour` to `closing_hour` on the first
   `opening_weekdays` days of the week (variables of the project). Computed as the opening hours from a Monday
   long ago to the end, minus those to the start: no table of days, no join. -#}
{% macro open_hours_between(start, end) -%}
    {{ open_hours_until(end) }} - {{ open_hours_until(start) }}
{%- endmacro %}

{% macro open_hours_until(time) -%}
    {%- set days, opens, closes = var('opening_weekdays'), var('opening_hour'), var('closing_hour') -%}
    {%- set day = "cast(" ~ time ~ " as date)" -%}
    {%- set weekday = iso_weekday(day) -%}
    {%- set passed = "(" ~ hours_between("cast(" ~ day ~ " as timestamp)", time) ~ ")" -%}
    (
        ({{ days_between("cast('2001-01-01' as date)", day) }} - ({{ weekday }} - 1)) / 7e0 * {{ days * (closes - opens) }}
        + least({{ weekday }} - 1, {{ days }}) * {{ closes - opens }}
        + case
            when {{ weekday }} <= {{ days }}
                then least(greatest({{ passed }} - {{ opens }}, 0), {{ closes - opens }})
            else 0
        end
    )
{%- endmacro %}
