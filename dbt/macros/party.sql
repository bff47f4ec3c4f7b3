{#- Who it was: a client, else a telephone number, else nobody that can be met again. -#}
{% macro party(client_id, phone, otherwise) -%}
    coalesce('client:' || {{ client_id }}, 'phone:' || {{ phone }}, {{ otherwise }})
{%- endmacro %}
