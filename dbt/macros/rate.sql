{#- A share as a double; null if the whole is zero. -#}
{% macro rate(part, whole) -%}
    cast({{ part }} as double) / nullif({{ whole }}, 0)
{%- endmacro %}
