{#- All columns of a relation except these. -#}
{% macro all_except(relation, columns) -%}
    {{ return(adapter.dispatch('all_except', 'vetl')(relation, columns)) }}
{%- endmacro %}

{% macro duckdb__all_except(relation, columns) -%}
    {{ relation }}.* exclude ({{ columns | join(', ') }})
{%- endmacro %}

{% macro spark__all_except(relation, columns) -%}
    {{ relation }}.* except ({{ columns | join(', ') }})
{%- endmacro %}
