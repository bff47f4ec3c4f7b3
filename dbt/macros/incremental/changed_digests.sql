{#-
    A model by party (or by day) carries `digest`, a number for all that the party's rows are made from. This deletes the
    rows whose digest `made_from` has no more; the model then inserts those of the digests that it lacks
    (decision 0403). What a killed build has left, the next one finds by the same comparison.
-#}
{% macro take_out_changed(made_from) -%}
    {%- if is_incremental() -%}
        delete from {{ this }} where digest not in (select digest from {{ ref(made_from) }})
    {%- endif -%}
{%- endmacro %}

{#- The digests that it lacks: few, so that of what it is made from few rows are read whole. -#}
{% macro lacking(made_from) -%}
    select digest from {{ ref(made_from) }} where digest not in (select digest from {{ this }})
{%- endmacro %}

{#- Deletes the days on which calls changed, and those with a call whose caller (`callers`) is another now (decision 0409). -#}
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
