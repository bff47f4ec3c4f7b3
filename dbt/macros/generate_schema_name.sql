{#- Schemas have the names of dbt_project.yml: `marts`, not `main_marts`. A target with a schema of its own, such as
   `dbt_anna` in an analyst's profile, writes to `dbt_anna_marts`. -#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {%- if not custom_schema_name -%}
        {{ target.schema }}
    {%- elif target.schema in ['main', 'marts'] -%}
        {{ custom_schema_name | trim }}
    {%- else -%}
        {{ target.schema }}_{{ custom_schema_name | trim }}
    {%- endif -%}
{%- endmacro %}
