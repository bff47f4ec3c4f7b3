{#- A model by client or number (or by day) carries `digest`, a number for all inputs of these rows. This deletes
   the rows whose digest is no longer in `made_from`; the model then inserts the rows of the digests that it
   lacks (decision 0403). After a killed build, the next build finds its remains by the same comparison. -#}
{% macro take_out_changed(made_from) -%}
    {%- if is_incremental() -%}
        delete from {{ this }} where digest not in (select digest from {{ ref(made_from) }})
    {%- endif -%}
{%- endmacro %}

{#- The digests that the model lacks: few, so few input rows are read whole. -#}
{% macro lacking(made_from) -%}
    select digest from {{ ref(made_from) }} where digest not in (select digest from {{ this }})
{%- endmacro %}

{#- Deletes the days on which calls changed, and those with a call whose caller (`callers`) is identified
   differently now (decision 0409). -#}
{% macro take_out_changed_calls(callers) -%}
    {%- if is_incremental() -%}
        delete from {{ this }}
        where (practice_id, day) in (
            {{ changed_days('phone_calls') }}
            union
            select practice_id, day from {{ this }}
            where digest not in (select digest from {{ ref(callers) }})
        )
    {%- endif -%}
{%- endmacro %}
