{#- The day of the week as ISO counts it: 1 is Monday, 7 is Sunday. -#}
{% macro iso_weekday(day) -%}
    {{ return(adapter.dispatch('iso_weekday', 'vetl')(day)) }}
{%- endmacro %}

{% macro duckdb__iso_weekday(day) -%}
    isodow({{ day }})
{%- endmacro %}

{% macro spark__iso_weekday(day) -%}
    (weekday({{ day }}) + 1)
{%- endmacro %}
