{#-
    The incremental strategy `scope`: of the rows in the model's scope, those that are derived no more go, those that are
    new come, and the rest is not touched. Both are noted for the models after it (`changed()`).
    A model that told no scope was derived whole.
-#}
{% macro get_incremental_scope_sql(arg_dict) -%}
    {%- set target_relation, fresh = arg_dict['target_relation'], arg_dict['temp_relation'] -%}
    {%- set columns = arg_dict['dest_columns'] | map(attribute='name') | join(', ') -%}
    {%- set scope = run_query(
        "select column_name from duckdb_columns() where schema_name = 'control' and table_name = 'scope_of_"
        ~ target_relation.identifier ~ "' and database_name = current_database()"
    ).columns[0].values() -%}
    {%- set key = config.get('unique_key') -%}
    {%- set notes = 'control.changed_in_' ~ target_relation.identifier -%}
    {%- set held = 'held_by_' ~ target_relation.identifier -%}
    create or replace temp table {{ held }} as
    select {{ columns }}, place from {{ in_scope('(select *, rowid as place from ' ~ target_relation ~ ')', scope) if scope
        else '(select *, rowid as place from ' ~ target_relation ~ ')' }};

    create or replace table {{ notes }} as
    select *, -1 as weight from (select {{ columns }} from {{ held }} except select {{ columns }} from {{ fresh }})
    union all
    select *, 1 as weight from (select {{ columns }} from {{ fresh }} except select {{ columns }} from {{ held }});

    delete from {{ target_relation }}
    where rowid in (
        select held.place from {{ held }} as held
        inner join {{ notes }} as gone on gone.weight = -1 and {{ same('held', 'gone', key) }}
    );

    insert into {{ target_relation }} ({{ columns }})
    select {{ columns }} from {{ notes }} where weight = 1;

    drop table {{ held }};
{%- endmacro %}
