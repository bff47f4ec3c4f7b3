{#- A share as a double; null where there is nothing to take a share of. -#}
{% macro rate(part, whole) -%}
    cast({{ part }} as double) / nullif({{ whole }}, 0)
{%- endmacro %}
