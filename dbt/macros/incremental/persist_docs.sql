{#-
    dbt asks this of each model that it made. A model that took in what changed keeps the comments that it got when it was
    made in full: with another text of them a build is in full.
-#}
{% macro duckdb__persist_docs(relation, model, for_relation, for_columns) -%}
    {%- if should_full_refresh() or config.get('materialized') != 'incremental' -%}
        {{ return(default__persist_docs(relation, model, for_relation, for_columns)) }}
    {%- endif -%}
{%- endmacro %}
