{#- Drop a table and make it again in one transaction, by one statement. dbt-duckdb's own materialization makes
   the new table beside the old one and renames both, in nine statements: if little changed, these cost more
   than most tables do. -#}
{% materialization table, adapter='duckdb' -%}
    {%- set before = load_cached_relation(this) -%}
    {%- set made = this.incorporate(type='table') -%}
    {{ run_hooks(pre_hooks) }}
    {%- call statement('main') -%}
        {% if before %}drop {{ before.type }} {{ before }};{% endif %}
        {{ create_table_as(false, made, compiled_code) }};
    {%- endcall -%}
    {% do persist_docs(made, model) %}
    {{ run_hooks(post_hooks) }}
    {% do adapter.commit() %}
    {{ return({'relations': [made]}) }}
{%- endmaterialization %}
