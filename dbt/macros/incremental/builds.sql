{#-
    Whether a build may take in only what changed (decision 0403). Decided once, when it begins, and kept in
    `control.builds`: every model of the build goes by it.

    In full where it was asked for, where the last build left a model out or a test of it failed (an incremental build judges
    what it wrote, and would not look there again), and where the marts were made by another text
    of this project, for practices that were set otherwise, or by a later clock than the source shows now. And in full
    where history is short: below half a million rows dbt's own work decides, and nothing is gained.
-#}
{% macro begin_build() -%}
    {%- if execute and flags.WHICH in ('build', 'run') -%}
        {{ return(adapter.dispatch('begin_build', 'vetl')()) }}
    {%- endif -%}
{%- endmacro %}

{#- Other engines build in full: what changed is noted in the private file alone. -#}
{% macro default__begin_build() -%}{%- endmacro %}

{% macro duckdb__begin_build() -%}
    {%- if notes_like('builds') -%}
        {% set text = env_var('VETL_BUILD_FINGERPRINT', '') %}
        {% set fingerprint = text ~ tojson(invocation_args_dict.get('vars', {})) %}
        {% do drop_notes('(scope_of|changed_in)_.*') %}
        {% do run_query("create or replace table control.building as select distinct * from control.changes") %}
        {% do run_query(
            "create or replace temp table this_build as select '" ~ fingerprint | replace("'", "''")
            ~ "' as fingerprint,"
            ~ " (select md5(string_agg(practices::varchar, ';' order by id)) from control.practices) as practices,"
            ~ " (select max_by(source_clock, started_at) from control.runs where source_clock is not null)"
            ~ " as source_clock"
        ) %}
        {% do run_query(
            "create or replace temp table next_build as select this_build.*, " ~ (flags.FULL_REFRESH or not text)
            ~ " or last_build.fingerprint is null or (" ~ raw_rows() ~ ") < " ~ (env_var('DBT_IN_FULL_BELOW', '500000') | int)
            ~ " as is_full, false as is_complete,"
            ~ " last_build.source_clock as previous_clock,"
            ~ " '" ~ invocation_id ~ "' as build_id, last_build.build_id as previous_id"
            ~ " from this_build left join control.builds as last_build on last_build.is_complete"
            ~ " and last_build.fingerprint = this_build.fingerprint and last_build.practices = this_build.practices"
            ~ " and last_build.source_clock <= this_build.source_clock"
        ) %}
        {% do run_query("delete from control.builds") %}
        {% do run_query("insert into control.builds select * replace (case when not is_full then previous_id end as previous_id)"
            ~ " from next_build") %}
        {% do graph.update({'is_incremental': not run_query("select is_full from control.builds").rows[0][0]}) %}
    {%- endif -%}
{%- endmacro %}

{#- What was taken in is changed no more; only where each model was built, or a later one would never see it. -#}
{% macro end_build(results) -%}
    {%- if execute and flags.WHICH in ('build', 'run') -%}
        {{ return(adapter.dispatch('end_build', 'vetl')(results)) }}
    {%- endif -%}
{%- endmacro %}

{% macro default__end_build(results) -%}{%- endmacro %}

{% macro duckdb__end_build(results) -%}
    {%- if notes_like('building') -%}
        {%- set built = results | selectattr('status', 'equalto', 'success') | map(attribute='node')
            | selectattr('resource_type', 'equalto', 'model') | list -%}
        {%- set models = graph.nodes.values() | selectattr('resource_type', 'equalto', 'model') | list -%}
        {%- set failed = results | selectattr('status', 'in', ['error', 'fail']) | list -%}
        {%- if built | length == models | length and not failed -%}
            {% do run_query("update control.builds set is_complete = true") %}
            {% do run_query(
                "delete from control.changes as noted using control.building as taken"
                ~ " where noted.practice_id = taken.practice_id and noted.table_name = taken.table_name"
                ~ " and noted.day is not distinct from taken.day"
            ) %}
        {%- endif -%}
        {% do drop_notes('scope_of_.*') %}
        {% do run_query("drop table control.building") %}
    {%- endif -%}
{%- endmacro %}

{#- What models told each other of the last build, see scope.sql. What changed is kept until the next, for publishing. -#}
{% macro drop_notes(pattern) -%}
    {%- for note in notes_like(pattern) -%}
        {% do run_query("drop table control." ~ note[0]) %}
    {%- endfor -%}
{%- endmacro %}

{#- The tables of `control` whose names are like this. Asked anew each time: dbt's cache does not see them come and go. -#}
{% macro notes_like(pattern) -%}
    {{ return(run_query(
        "select table_name from duckdb_tables() where schema_name = 'control' and database_name = current_database()"
        ~ " and regexp_full_match(table_name, '" ~ pattern ~ "')"
    ).rows) }}
{%- endmacro %}

{#- How many rows there are in raw, by DuckDB's own count of each table. -#}
{% macro raw_rows() -%}
    select coalesce(sum(estimated_size), 0) from duckdb_tables()
    where schema_name = 'raw' and database_name = current_database()
{%- endmacro %}

{#-
    dbt asks this of each incremental model, many times, and so does `is_incremental()`. The answer was found when the build
    began, and is kept in the one dictionary that all of its models see.
-#}
{% macro should_full_refresh() -%}
    {{ return(not graph.get('is_incremental', false)) }}
{%- endmacro %}
