{#- Rows of texts as literals of a statement, `('a', null), ...`; dispatched once, because a catalogue has ten thousand texts. -#}
{% macro literal_rows(rows) -%}
    {{ return(adapter.dispatch('literal_rows', 'vetl')(rows)) }}
{%- endmacro %}

{% macro duckdb__literal_rows(rows) -%}
    {%- for row in rows %}
        (
            {%- for text in row -%}
                {{ 'null' if text is none else "'" ~ (text.split() | join(' ')).replace("'", "''") ~ "'" }}
                {{- ', ' if not loop.last }}
            {%- endfor -%}
        ){{ ',' if not loop.last }}
    {%- endfor %}
{%- endmacro %}

{% macro spark__literal_rows(rows) -%}
    {%- for row in rows %}
        (
            {%- for text in row -%}
                {%- set escaped = (text.split() | join(' ')).replace('\\', '\\\\').replace("'", "\\'") if text is not none -%}
                {{ 'null' if text is none else "'" ~ escaped ~ "'" }}
                {{- ', ' if not loop.last }}
            {%- endfor -%}
        ){{ ',' if not loop.last }}
    {%- endfor %}
{%- endmacro %}
