{#- The unit of a metric, by its name and how it is counted. -#}
{% macro metric_unit(name, aggregation) -%}
    {{ return('share, from 0 to 1' if aggregation == 'ratio' else unit_of(name, 'double') if aggregation == 'median' else 'count') }}
{%- endmacro %}

{#- The direction that is better; none if neither is. -#}
{% macro better_direction(better, name) -%}
    {{ return('more' if name in better.get('more', []) else 'less' if name in better.get('less', []) else none) }}
{%- endmacro %}

{#- The rule after which a number no longer changes by itself. -#}
{% macro metric_maturity() -%}
    {%- set days = (final_after_hours() | int) // 24 -%}
    {{ return('final when ' ~ days ~ ' days have passed since the end of each of its days (practice_days.is_final)') }}
{%- endmacro %}
