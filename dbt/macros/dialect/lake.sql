{#-
    Where an engine has no warehouse file, the tables that the models read are Parquet: `<lake>/<schema>/<table>/*.parquet`.
    Each becomes a view when a build begins, so that a build reads what lies there then. Without a lake the tables are
    expected under their names.
-#}
{% macro spark__begin_build() -%}
    {%- if var('lake') -%}
        {%- for source in graph.sources.values() -%}
            {% do run_query("create schema if not exists " ~ source.schema) %}
            {% do run_query(
                "create or replace view " ~ source.schema ~ "." ~ source.identifier ~ " as select * from parquet.`"
                ~ var('lake') ~ "/" ~ source.schema ~ "/" ~ source.identifier ~ "`"
            ) %}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro %}
