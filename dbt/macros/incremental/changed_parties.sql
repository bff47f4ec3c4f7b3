{#-
    A model by party carries `digest`, a number for all that the party's rows are made from (`int_demand_digests`).
    Before it puts in what it lacks, the rows of parties go whose number is another now (decision 0403). Whatever a
    build that was killed has left, the next one finds by the same comparison.
-#}
{% macro take_out_changed_parties() -%}
    {%- if is_incremental() -%}
        delete from {{ this }}
        where (practice_id, party, digest) not in (
            select practice_id, party, digest from {{ ref('int_demand_digests') }}
        )
    {%- endif -%}
{%- endmacro %}

{#- Whether the model holds nothing of a row's party. -#}
{% macro is_not_held(rows) -%}
    not exists (
        select 1 from {{ this }} as held
        where held.practice_id = {{ rows }}.practice_id and held.party = {{ rows }}.party
    )
{%- endmacro %}
