{#- A text as a literal of a statement; null if there is none. -#}
{% macro text_literal(text) -%}
    {{ return(adapter.dispatch('text_literal', 'vetl')(text)) }}
{%- endmacro %}

{% macro duckdb__text_literal(text) -%}
    {{ 'null' if text is none else "'" ~ (text.split() | join(' ')).replace("'", "''") ~ "'" }}
{%- endmacro %}

{% macro spark__text_literal(text) -%}
    {%- set escaped = (text.split() | join(' ')).replace('\\', '\\\\').replace("'", "\\'") if text is not none -%}
    {{ 'null' if text is none else "'" ~ escaped ~ "'" }}
{%- endmacro %}
