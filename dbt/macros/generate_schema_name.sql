{#- Schemas have the names of dbt_project.yml: `marts`, not `main_marts`. -#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {{ custom_schema_name | trim if custom_schema_name else target.schema }}
{%- endmacro %}
