{#- A number of 64 bits that differs for different rows, made with columns of others. -#}
{% macro row_hash(row) -%}
    {{ return(adapter.dispatch('row_hash', 'vetl')(row, varargs)) }}
{%- endmacro %}

{#- DuckDB adds the last column to a hash by XOR alone: hashed again, rows with the same change do not cancel
   each other out. -#}
{% macro duckdb__row_hash(row, columns) -%}
    hash(hash({{ ([row] + columns | list) | join(', ') }}))
{%- endmacro %}

{% macro spark__row_hash(row, columns) -%}
    xxhash64({{ ([row ~ '.*'] + columns | list) | join(', ') }})
{%- endmacro %}
