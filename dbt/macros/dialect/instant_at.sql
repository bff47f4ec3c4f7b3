{#- The instant at which the practice's wall clock shows a time; the inverse of `local_time`. -#}
{% macro instant_at(local, time_zone) -%}
    {{ return(adapter.dispatch('instant_at', 'vetl')(local, time_zone)) }}
{%- endmacro %}

{% macro duckdb__instant_at(local, time_zone) -%}
    timezone({{ time_zone }}, {{ local }})
{%- endmacro %}

{% macro spark__instant_at(local, time_zone) -%}
    cast(convert_timezone({{ time_zone }}, 'UTC', cast({{ local }} as timestamp_ntz)) as timestamp)
{%- endmacro %}
