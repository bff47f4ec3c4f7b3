{#- The practice's wall clock at an instant; null if the zone is unknown. -#}
{% macro local_time(instant, time_zone) -%}
    {{ return(adapter.dispatch('local_time', 'vetl')(instant, time_zone)) }}
{%- endmacro %}

{% macro duckdb__local_time(instant, time_zone) -%}
    timezone({{ time_zone }}, {{ instant }})
{%- endmacro %}

{% macro spark__local_time(instant, time_zone) -%}
    convert_timezone('UTC', {{ time_zone }}, cast({{ instant }} as timestamp_ntz))
{%- endmacro %}
