{#- A key of the person: a client, else a telephone number, else the contact itself, which cannot be recognized
   again. -#}
{% macro person(client_id, phone, otherwise) -%}
    coalesce('client:' || {{ client_id }}, 'phone:' || {{ phone }}, {{ otherwise }})
{%- endmacro %}
