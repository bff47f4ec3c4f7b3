{#- dbt calls this for a table with a contract, once it is made. Spark's own tables hold no constraints, whatever
   their format: this looks for nulls that the contract forbids and fails the model, as DuckDB does. -#}
{% macro spark__persist_constraints(relation, model) -%}
    {%- set required = [] -%}
    {%- for column in model.columns.values() if column.constraints | selectattr('type', 'equalto', 'not_null') | list -%}
        {%- do required.append(column.name) -%}
    {%- endfor -%}
    {%- if required and config.get('contract').enforced -%}
        {%- set counts -%}
            select {% for name in required %}count_if({{ name }} is null) as {{ name }}{{ ', ' if not loop.last }}{% endfor %}
            from {{ relation }}
        {%- endset -%}
        {%- set nulls = run_query(counts).rows[0] -%}
        {%- for name in required if nulls[name] > 0 -%}
            {% do exceptions.raise_compiler_error(relation ~ "." ~ name ~ " is null in " ~ nulls[name] ~ " rows: its contract forbids it") %}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro %}
