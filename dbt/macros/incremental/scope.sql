{#-
    An incremental model derives anew the rows of its scope: those that agree with a row of it in all of its columns,
    nulls included. The model tells the scope once, `{{ set_scope(query) }}`, reads what can be narrowed through
    `{{ in_scope(relation, columns) }}`, and is written by the strategy `scope`. What that took out and put in is
    `{{ changed(relation) }}` for the models after it, with the `weight` -1 and 1.
-#}
{% macro set_scope(query) -%}
    {% do run_query(
        "create or replace table control.scope_of_" ~ this.identifier ~ " as select distinct * from (" ~ query ~ ")"
    ) %}
{%- endmacro %}

{#- The rows of a relation that lie in the scope of this model; all of them where it is built in full. -#}
{% macro in_scope(relation, columns) -%}
    {%- if is_incremental() -%}
        (
            select * from {{ relation }} as whole
            where exists (
                select 1 from control.scope_of_{{ this.identifier }} as part where {{ same('whole', 'part', columns) }}
            )
        )
    {%- else -%}
        {{ relation }}
    {%- endif -%}
{%- endmacro %}

{#- The rows that a model before this one took out and put in. Only in an incremental build. -#}
{% macro changed(relation) -%}
    control.changed_in_{{ relation.identifier }}
{%- endmacro %}

{#-
    The rows of a relation, each with the `weight` 1: in an incremental build only those that a model before this one
    took out (-1) and put in (1). What is counted of them is kept up by adding, without a look at the rest.
-#}
{% macro weighted(relation) -%}
    {%- if is_incremental() -%}
        {{ changed(relation) }}
    {%- else -%}
        (select *, 1 as weight from {{ relation }})
    {%- endif -%}
{%- endmacro %}

{#- The days of a raw table in which rows changed since the last build. Only in an incremental build. -#}
{% macro changed_days(table) -%}
    select practice_id, day from control.building where table_name = '{{ table }}'
{%- endmacro %}

{% macro same(left, right, columns) -%}
    {%- for column in columns -%}
        {{ left }}.{{ column }} is not distinct from {{ right }}.{{ column }}{{ ' and ' if not loop.last }}
    {%- endfor -%}
{%- endmacro %}

{#- The ids of rows that were created on days on which something changed, as they are now and as they were. -#}
{% macro ids_of_changed_days(table, relation, id) -%}
    select rows_there.practice_id, rows_there.{{ id }}
    from (
        select practice_id, {{ id }}, {{ utc_day('created_at') }} as day from {{ relation }}
        union all
        select practice_id, {{ id }}, {{ utc_day('created_at') }} as day from {{ this }}
    ) as rows_there
    where exists (
        select 1 from ({{ changed_days(table) }}) as noted where {{ same('rows_there', 'noted', ['practice_id', 'day']) }}
    )
{%- endmacro %}

{#- The ids of which a history holds a version that was created on a day on which something changed. -#}
{% macro ids_with_history(table, history, id) -%}
    select versions.practice_id, versions.{{ id }}
    from (select practice_id, {{ id }}, {{ utc_day('created_at') }} as day from {{ history }}) as versions
    where exists (
        select 1 from ({{ changed_days(table) }}) as noted where {{ same('versions', 'noted', ['practice_id', 'day']) }}
    )
{%- endmacro %}

{#- The days of groups, instead of practices, on which a model before this one changed something. -#}
{% macro days_of_groups(relation) -%}
    select practices.group_name, part.day
    from {{ changed(relation) }} as part
    inner join {{ ref('practices') }} as practices
        on part.practice_id = practices.practice_id
{%- endmacro %}

{#- Whether anything of a raw table without days changed at the row's practice. -#}
{% macro has_changed(table) -%}
    practice_id in (select practice_id from ({{ changed_days(table) }}) as noted)
{%- endmacro %}

{#- Whether an instant passed an age of so many hours since the last build, by the source's clock. -#}
{% macro became_older_than(hours, instant) -%}
    {{ instant }} between
        (select previous_clock - interval {{ hours }} hours from control.builds)
        and (select source_clock - interval {{ hours }} hours from control.builds)
{%- endmacro %}

{#- The rows of one channel whose contacts lie in the scope of this model. -#}
{% macro contacts_in_scope(relation, channel, id) -%}
    {%- if is_incremental() -%}
        (
            select * from {{ relation }} as whole
            where exists (
                select 1 from control.scope_of_{{ this.identifier }} as part
                where part.practice_id = whole.practice_id and part.channel = '{{ channel }}' and part.contact_id = whole.{{ id }}
            )
        )
    {%- else -%}
        {{ relation }}
    {%- endif -%}
{%- endmacro %}

{#- Of a model's or a source's rows those that have a key in common with a row that this build wrote; else all. -#}
{% macro rows_to_judge(relation, key, written) -%}
    {%- if should_full_refresh() -%}
        {{ relation }}
    {%- elif relation.schema == 'raw' and relation.identifier == 'phone_calls' -%}
        (
            select * from {{ relation }} as whole
            where exists (
                select 1 from ({{ changed_days('phone_calls') }}) as part
                where whole.practice_id = part.practice_id and whole.call_date = part.day
            )
        )
    {%- elif notes_like('changed_in_' ~ written.identifier) -%}
        (
            select * from {{ relation }} as whole
            where exists (
                select 1 from {{ changed(written) }} as part where part.weight = 1 and {{ same('whole', 'part', key) }}
            )
        )
    {%- else -%}
        {{ relation }}
    {%- endif -%}
{%- endmacro %}
