{#- One row for each record of a list within JSON, with these fields as text; no row if there is no such list. -#}
{% macro each_record(json, path, fields) -%}
    {{ return(adapter.dispatch('each_record', 'vetl')(json, path, fields)) }}
{%- endmacro %}

{% macro duckdb__each_record(json, path, fields) -%}
    unnest(from_json(
        json_extract({{ json }}, '{{ path }}'),
        '[{ {%- for field in fields.split() %}"{{ field }}": "VARCHAR"{{ ', ' if not loop.last }}{% endfor -%} }]'
    ))
{%- endmacro %}

{% macro spark__each_record(json, path, fields) -%}
    explode(from_json(
        get_json_object({{ json }}, '{{ path }}'),
        'array<struct<{% for field in fields.split() %}{{ field }}: string{{ ', ' if not loop.last }}{% endfor %}>>'
    ))
{%- endmacro %}
