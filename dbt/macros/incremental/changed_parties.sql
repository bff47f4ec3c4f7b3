{#-
    A model by party carries `digest`, a number for all that the party's rows are made from (`int_demand_digests`).
    This deletes the rows of parties whose digest is another now; the model then inserts the parties that it lacks
    (decision 0403). What a killed build has left, the next one finds by the same comparison.
-#}
{% macro take_out_changed_parties(made_from) -%}
    {%- if is_incremental() -%}
        delete from {{ this }}
        where (practice_id, party, digest) not in (
            select practice_id, party, digest from {{ ref(made_from) }}
        )
    {%- endif -%}
{%- endmacro %}

{#- The parties of which it holds rows. -#}
{% macro parties_held() -%}
    select practice_id, party from {{ this }}
{%- endmacro %}
