{#- The unit of a metric, by its name and how it is counted. -#}
{% macro metric_unit(name, aggregation) -%}
    {{ return('share, from 0 to 1' if aggregation == 'ratio' else unit_of(name, 'double') if aggregation == 'median' else 'count') }}
{%- endmacro %}

{#- The direction that is better; none if neither is. -#}
{% macro better_direction(better, name) -%}
    {{ return('more' if name in better.get('more', []) else 'less' if name in better.get('less', []) else none) }}
{%- endmacro %}

{#- The days after the end of a day until a measure of it no longer grows by itself: `matures_after_days` of all
   measures or by measure; `final` is the time until any number of the day is final. -#}
{% macro matures_after_days(meta, name) -%}
    {%- set days = meta.get('matures_after_days') -%}
    {%- set days = days.get(name) if days is mapping else days -%}
    {{ return(((final_after_hours() | int) + 23) // 24 if days == 'final' else days) }}
{%- endmacro %}

{#- The rule after which a number no longer changes by itself; a number of now always can. -#}
{% macro metric_maturity(days, is_of_now=false) -%}
    {%- if is_of_now -%}
        {{ return('never final: it counts what is so at the last sync') }}
    {%- endif -%}
    {%- set final = (final_after_hours() | int) // 24 -%}
    {%- set rule = ' days have passed since the end of each of its days' -%}
    {{ return('final when ' ~ (days ~ rule if (days or 0) > final else final ~ rule ~ ' (practice_days.is_final)')) }}
{%- endmacro %}
