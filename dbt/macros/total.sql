{#- A sum of counts as a count: some engines widen it. -#}
{% macro total(column) -%}
    cast(sum({{ column }}) as bigint)
{%- endmacro %}
