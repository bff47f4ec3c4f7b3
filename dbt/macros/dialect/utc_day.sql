{#- The day of an instant in UTC. -#}
{% macro utc_day(instant) -%}
    {{ return(adapter.dispatch('utc_day', 'vetl')(instant)) }}
{%- endmacro %}

{% macro duckdb__utc_day(instant) -%}
    cast(timezone('UTC', {{ instant }}) as date)
{%- endmacro %}

{#- In a session of zone UTC. -#}
{% macro spark__utc_day(instant) -%}
    cast({{ instant }} as date)
{%- endmacro %}
