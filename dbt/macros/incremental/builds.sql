{#- A build takes in changes (decision 0403), or makes all tables again: if that was requested, if the last build
   did not leave incremental tables, or if another text of this project or other variables made them.
   `control.builds` has one row about the last build. The changes are forgotten once every model was built and
   passed its tests; until then the next build takes them in again, which does no harm if it is done twice. -#}
{% macro begin_build() -%}
    {%- if execute and flags.WHICH in ('build', 'run') -%}
        {{ return(adapter.dispatch('begin_build', 'vetl')()) }}
    {%- endif -%}
{%- endmacro %}

{#- Other engines make every table again and keep no notes. -#}
{% macro default__begin_build() -%}{%- endmacro %}

{% macro duckdb__begin_build() -%}
    {%- set text = build_fingerprint() -%}
    {%- set last = run_query("select fingerprint from control.builds").columns[0].values() | list -%}
    {%- set models = graph.nodes.values() | selectattr('config.materialized', 'equalto', 'incremental') | list -%}
    {%- set tables = [] -%}
    {%- for model in models -%}
        {% do tables.append(adapter.get_relation(database=target.database, schema=model.schema, identifier=model.alias)) %}
    {%- endfor -%}
    {#- Notes of the build before, also of marts that took in changes in an earlier version. -#}
    {%- set notes = "select table_name from duckdb_tables() where schema_name = 'control' and starts_with(table_name, 'changed_')"
        ~ " and database_name = current_database()" -%}
    {%- for note in run_query(notes).columns[0].values() -%}
        {% do run_query("drop table control." ~ note) %}
    {%- endfor -%}
    {%- set is_full = none in tables or flags.FULL_REFRESH or last != [text] or not env_var('VETL_BUILD_FINGERPRINT', '') -%}
    {%- if is_full -%}
        {%- for table in tables | reject('none') -%}
            {% do adapter.drop_relation(table) %}
        {%- endfor -%}
    {%- endif -%}
    {% do run_query(
        "create or replace table control.building as select " ~ is_full ~ " as is_full, (select any_value(build_id)"
        ~ " from control.builds where is_complete and not " ~ is_full ~ ") as previous_id"
    ) %}
    {% do run_query("update control.builds set is_complete = false") %}
{%- endmacro %}

{% macro end_build(results) -%}
    {%- if execute and flags.WHICH in ('build', 'run') -%}
        {{ return(adapter.dispatch('end_build', 'vetl')(results)) }}
    {%- endif -%}
{%- endmacro %}

{% macro default__end_build(results) -%}{%- endmacro %}

{% macro duckdb__end_build(results) -%}
    {#- Views, and models that depend on the project alone, are as the build before left them, if it left all
       (decision 0409). -#}
    {%- set follows = run_query("select previous_id from control.building").columns[0].values()[0] is not none -%}
    {%- set models = graph.nodes.values() | selectattr('resource_type', 'equalto', 'model') -%}
    {%- set expected = models | rejectattr('config.materialized', 'equalto', 'view' if follows else none)
        | rejectattr('name', 'in', ['catalogue', 'metrics'] if follows else []) | map(attribute='unique_id') | list -%}
    {%- set built = results | selectattr('status', 'equalto', 'success') | map(attribute='node.unique_id') | list -%}
    {%- set failed = results | selectattr('status', 'in', ['error', 'fail', 'runtime error']) | list -%}
    {%- if expected | reject('in', built) | list == [] and not failed -%}
        {% do run_query(
            "create or replace temp table this_build as select '" ~ build_fingerprint() ~ "' as fingerprint,"
            ~ " (select md5(string_agg(practices::varchar, ';' order by id)) from control.practices) as practices,"
            ~ " (select max_by(source_clock, started_at) from control.runs where source_clock is not null)"
            ~ " as source_clock, true as is_complete, '" ~ invocation_id ~ "' as build_id, * from control.building"
        ) %}
        {% do run_query("delete from control.builds") %}
        {% do run_query("insert into control.builds by name select * from this_build") %}
        {% do run_query("delete from control.changes") %}
    {%- endif -%}
    {% do run_query("drop table control.building") %}
{%- endmacro %}

{% macro build_fingerprint() -%}
    {{ return((env_var('VETL_BUILD_FINGERPRINT', '') ~ tojson(invocation_args_dict.get('vars', {}))) | replace("'", "''")) }}
{%- endmacro %}
