{#- Whether a text is a telephone number with its country, as E.164 writes it. -#}
{% macro is_e164(text) -%}
    {{ return(adapter.dispatch('is_e164', 'vetl')(text)) }}
{%- endmacro %}

{% macro duckdb__is_e164(text) -%}
    regexp_full_match({{ text }}, '[+][1-9][0-9]{6,14}')
{%- endmacro %}

{% macro spark__is_e164(text) -%}
    {{ text }} rlike '^[+][1-9][0-9]{6,14}$'
{%- endmacro %}
