{#- The days of a raw table's rows that changed since the marts were built from all of it (decision 0403). -#}
{% macro changed_days(table=this.identifier) -%}
    select practice_id, day from {{ ref('stg_control__changes') }} where table_name = '{{ table }}'
{%- endmacro %}

{#- Before an incremental mart inserts the changed rows in their present form, its old versions of them are
   deleted. Both are noted for publishing (pipelines/loading/published), with the weight -1 and 1. -#}
{% macro take_out_noted(columns, changed) -%}
    {%- if is_incremental() -%}
        create or replace table control.changed_in_{{ this.identifier }} as
        select *, -1 as weight from {{ this }} where ({{ columns }}) in ({{ changed }});
        delete from {{ this }} where ({{ columns }}) in ({{ changed }})
    {%- endif -%}
{%- endmacro %}

{% macro note_put_in(columns, changed) -%}
    {%- if is_incremental() -%}
        insert into control.changed_in_{{ this.identifier }}
        select *, 1 as weight from {{ this }} where ({{ columns }}) in ({{ changed }})
    {%- endif -%}
{%- endmacro %}
