{#-
    An incremental strategy for marts that are made whole, of which little differs from build to build (decision 0410): only rows
    that differ are deleted and inserted. Both are noted for publishing, as `take_out_changed_days` does.
-#}
{% macro get_incremental_difference_sql(arguments) -%}
    {%- set made, held = arguments['temp_relation'], arguments['target_relation'] -%}
    {%- set notes = 'control.changed_in_' ~ held.identifier -%}
    create or replace table {{ notes }} as
    select *, rowid as held_row, -1 as weight from {{ held }} as held
    where {{ row_hash('held') }} not in (select {{ row_hash('made') }} from {{ made }} as made)
    union all
    select *, null as held_row, 1 as weight from {{ made }} as made
    where {{ row_hash('made') }} not in (select {{ row_hash('held') }} from {{ held }} as held);
    delete from {{ held }} where rowid in (select held_row from {{ notes }} where weight = -1);
    insert into {{ held }} by name
    select * exclude (held_row, weight) from {{ notes }} where weight = 1
{%- endmacro %}
