{#- A text without anything that is not a digit. -#}
{% macro digits_of(text) -%}
    {{ return(adapter.dispatch('digits_of', 'vetl')(text)) }}
{%- endmacro %}

{% macro duckdb__digits_of(text) -%}
    regexp_replace({{ text }}, '[^0-9]', '', 'g')
{%- endmacro %}

{% macro spark__digits_of(text) -%}
    regexp_replace({{ text }}, '[^0-9]', '')
{%- endmacro %}
