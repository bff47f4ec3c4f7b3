{#- The days of a raw table's rows that changed since the marts were built from all of it (decision 0403). -#}
{% macro changed_days(table=this.identifier) -%}
    select practice_id, day from {{ ref('stg_control__changes') }} where table_name = '{{ table }}'
{%- endmacro %}

{#- Before an incremental mart inserts the days that changed in their present form, its old versions of them are
   deleted: days of rows that changed, and those of `others`. Both are noted for publishing
   (pipelines/vetl/loading/published), with the weight -1 and 1. -#}
{% macro take_out_days(others) -%}
    {%- if is_incremental() -%}
        create or replace table control.changed_in_{{ this.identifier }} as
        select *, -1 as weight from {{ this }}
        where (practice_id, day) in ({{ changed_days() }} union {{ others }});
        delete from {{ this }}
        where (practice_id, day) in (select practice_id, day from control.changed_in_{{ this.identifier }})
    {%- endif -%}
{%- endmacro %}

{% macro note_put_in() -%}
    {%- if is_incremental() -%}
        insert into control.changed_in_{{ this.identifier }}
        select *, 1 as weight from {{ this }}
        where (practice_id, day) in (
            {{ changed_days() }}
            union
            select practice_id, day from control.changed_in_{{ this.identifier }}
        )
    {%- endif -%}
{%- endmacro %}

{#- The days on which calls have another caller now: a sum for each day shows them, so that a build after a killed
   one finds what that build left (decision 0409). -#}
{% macro days_of_other_callers(identified) -%}
    {%- set caller = row_hash('call_key', 'client_id', 'caller_key') -%}
    select practice_id, day
    from (
        select practice_id, day, {{ caller }} as here, 0 as there from {{ this }}
        union all
        select practice_id, day, 0 as here, {{ caller }} as there from {{ ref(identified) }}
    )
    group by practice_id, day
    having sum(here) != sum(there)
{%- endmacro %}
