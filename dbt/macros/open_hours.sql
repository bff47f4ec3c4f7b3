{#- Opening hours: from `opens` to `closes` on the first `weekdays` days of the week. Those of a practice are the
   variable `opening_hours_by_practice`, else `opening_hour`, `closing_hour` and `opening_weekdays`. -#}
{% macro usual_hours() -%}
    {{ return({'opens': var('opening_hour'), 'closes': var('closing_hour'), 'weekdays': var('opening_weekdays')}) }}
{%- endmacro %}

{#- Whether a time of the wall clock is within the opening hours. -#}
{% macro is_open_at(practice_id, time) -%}
    case
        {%- for practice, hours in var('opening_hours_by_practice').items() %}
        when {{ practice_id }} = {{ text_literal(practice) }} then {{ is_within(hours, time) }}
        {%- endfor %}
        when true then {{ is_within(usual_hours(), time) }}
    end
{%- endmacro %}

{% macro is_within(hours, time) -%}
    (
        {{ iso_weekday(time) }} <= {{ hours.weekdays }}
        and extract(hour from {{ time }}) >= {{ hours.opens }}
        and extract(hour from {{ time }}) < {{ hours.closes }}
    )
{%- endmacro %}

{#- Opening hours between two times of the wall clock. Computed as the opening hours from a Monday long ago to the
   end, minus those to the start: no table of days, no join. -#}
{% macro open_hours_between(practice_id, start, end) -%}
    case
        {%- for practice, hours in var('opening_hours_by_practice').items() %}
        when {{ practice_id }} = {{ text_literal(practice) }}
            then {{ open_hours_until(hours, end) }} - {{ open_hours_until(hours, start) }}
        {%- endfor %}
        when true then {{ open_hours_until(usual_hours(), end) }} - {{ open_hours_until(usual_hours(), start) }}
    end
{%- endmacro %}

{% macro open_hours_until(hours, time) -%}
    {%- set days, opens, closes = hours.weekdays, hours.opens, hours.closes -%}
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
