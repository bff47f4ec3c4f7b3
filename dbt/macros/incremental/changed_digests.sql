{#-
    A model by party (or by day) carries `digest`, a number for all that the party's rows are made from. This deletes the
    rows of parties whose digest in `made_from` is another now; the model then inserts the parties that it lacks
    (decision 0403). What a killed build has left, the next one finds by the same comparison.
-#}
{% macro take_out_changed(made_from, by) -%}
    {%- if is_incremental() -%}
        delete from {{ this }}
        where (practice_id, {{ by }}, digest) not in (
            select practice_id, {{ by }}, digest from {{ ref(made_from) }}
        )
    {%- endif -%}
{%- endmacro %}

{#- The parties (or days) of which it holds rows. -#}
{% macro held(by) -%}
    select distinct practice_id, {{ by }} from {{ this }}
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
