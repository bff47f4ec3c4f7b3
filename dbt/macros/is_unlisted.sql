{#- Whether a column holds a value that is none of those listed. -#}
{% macro is_unlisted(column, values) -%}
    {{ column }} is not null
    {%- if values %}
        and {{ column }} not in ('{{ values | join("', '") }}')
    {%- endif %}
{%- endmacro %}
