{#- An aggregate over the client's own contacts; over all contacts if the client made none. -#}
{% macro of_the_client(aggregate) -%}
    coalesce({{ aggregate }} filter (where begun_by = 'client'), {{ aggregate }})
{%- endmacro %}
