{#- A number of 64 bits that tells a row, with columns of others, from any other. -#}
{% macro row_hash(row) -%}
    {{ return(adapter.dispatch('row_hash', 'vetl')(row, varargs)) }}
{%- endmacro %}

{% macro duckdb__row_hash(row, columns) -%}
    hash({{ ([row] + columns | list) | join(', ') }})
{%- endmacro %}

{% macro spark__row_hash(row, columns) -%}
    xxhash64({{ ([row ~ '.*'] + columns | list) | join(', ') }})
{%- endmacro %}
