{#- The days of the model's list on which rows changed since the marts were built from all of them (decision 0403). -#}
{% macro changed_days(table=this.identifier) -%}
    select practice_id, day from {{ ref('stg_control__changes') }} where table_name = '{{ table }}'
{%- endmacro %}

{#-
    Before an incremental model puts in the changed days as they are now, what it holds of them goes. Both is noted for
    publishing (pipelines/loading/published), with the weight -1 and 1.
-#}
{% macro take_out_changed_days() -%}
    {%- if is_incremental() -%}
        create or replace table control.changed_in_{{ this.identifier }} as
        select *, -1 as weight from {{ this }} where (practice_id, day) in ({{ changed_days() }});
        delete from {{ this }} where (practice_id, day) in ({{ changed_days() }})
    {%- endif -%}
{%- endmacro %}

{% macro note_changed_days() -%}
    {%- if is_incremental() -%}
        insert into control.changed_in_{{ this.identifier }}
        select *, 1 as weight from {{ this }} where (practice_id, day) in ({{ changed_days() }})
    {%- endif -%}
{%- endmacro %}
