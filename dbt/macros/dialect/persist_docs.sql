{#- One statement for all comments of a table that was just made: its contract knows the columns, and inserts
   leave comments as they are. -#}
{% macro duckdb__persist_docs(relation, model, for_relation, for_columns) -%}
    {%- if config.persist_relation_docs() and not is_incremental() -%}
        {%- set comments -%}
            {{ alter_relation_comment(relation, model.description) }}
            {%- for column in model.columns.values() %}
            comment on column {{ relation }}.{{ column.name }} is {{ duckdb_escape_comment(column.description) }};
            {%- endfor %}
        {%- endset -%}
        {% do run_query(comments) %}
    {%- endif -%}
{%- endmacro %}
