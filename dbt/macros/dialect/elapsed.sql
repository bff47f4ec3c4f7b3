{#- Elapsed time between two instants as a double, exact to the microsecond: never a count of crossed boundaries. -#}
{% macro hours_between(start, end) -%}
    {{ microseconds_between(start, end) }} / 3.6e9
{%- endmacro %}

{% macro minutes_between(start, end) -%}
    {{ microseconds_between(start, end) }} / 6e7
{%- endmacro %}

{% macro microseconds_between(start, end) -%}
    {{ return(adapter.dispatch('microseconds_between', 'vetl')(start, end)) }}
{%- endmacro %}

{#- `date_diff` of two instants goes through the calendar, at 70 times the CPU. -#}
{% macro duckdb__microseconds_between(start, end) -%}
    (epoch_us({{ end }}) - epoch_us({{ start }}))
{%- endmacro %}

{% macro spark__microseconds_between(start, end) -%}
    timestampdiff(microsecond, {{ start }}, {{ end }})
{%- endmacro %}

{#- Whole days from one date to another. -#}
{% macro days_between(start, end) -%}
    {{ return(adapter.dispatch('days_between', 'vetl')(start, end)) }}
{%- endmacro %}

{% macro duckdb__days_between(start, end) -%}
    date_diff('day', {{ start }}, {{ end }})
{%- endmacro %}

{% macro spark__days_between(start, end) -%}
    datediff({{ end }}, {{ start }})
{%- endmacro %}
