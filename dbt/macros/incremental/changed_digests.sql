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

{#-
    Notes the episodes of which a row of a mart may be another now (decision 0411): those of parties whose digest in
    `made_from` is another, as they were and as they will be, and those that were lost, or grew too old to be called, since the
    last build that was complete. Until one is, the notes stay.
-#}
{% macro note_changed_episodes(made_from) -%}
    {%- if is_incremental() -%}
        insert into control.changed_episodes
        select episode_id from {{ this }}
        where digest not in (select digest from {{ ref(made_from) }})
        union
        select episode_id from {{ ref(made_from) }} where digest in ({{ lacking(made_from) }})
        union
        select held.episode_id
        from {{ this }} as held
        cross join (
            select
                least(coalesce(last.source_clock, timestamptz '-infinity'), clock.source_clock) as earlier,
                greatest(last.source_clock, clock.source_clock) as later
            from control.builds as last
            cross join {{ ref('int_source_clock') }} as clock
        )
        where held.booked_at is null and (
            {%- for days in ('lost_after_days', 'call_back_within_days') %}
            {{ 'or ' if not loop.first }}held.last_at + interval {{ var(days) * 24 }} hours between earlier and later
            {%- endfor %}
        )
    {%- endif -%}
{%- endmacro %}
