{#- A table is made anew in its place, in one transaction. dbt's own way makes another one beside it and renames both,
   with seven more statements a model: in an hour with little news they take longer than the models. -#}
{% materialization table, adapter='duckdb' %}
    {%- set before = load_cached_relation(this) -%}
    {%- set relation = this.incorporate(type='table') -%}
    {{ run_hooks(pre_hooks) }}
    {% call statement('main') -%}
        {% if before %}drop {{ before.type }} {{ before }};{% endif %}
        {{ create_table_as(False, relation, compiled_code) }}
    {%- endcall %}
    {% do persist_docs(relation, model) %}
    {{ run_hooks(post_hooks) }}
    {{ adapter.commit() }}
    {{ return({'relations': [relation]}) }}
{% endmaterialization %}
