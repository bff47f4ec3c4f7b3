{#- Fails for each practice whose rows are not all accounted for: `total` of this model against `of` of `to`: by
   default the number of its rows, with `only` the number of rows for which it holds. -#}
{% test ties_out(model, to, total='count(*)', only='true', of='count(*)') %}
    with here as (
        select
            practice_id,
            {{ total }} as rows_here
        from {{ model }}
        group by practice_id
    ),

    there as (
        select
            practice_id,
            {{ of }} as rows_there
        from {{ to }}
        where {{ only }}
        group by practice_id
    )

    select
        coalesce(here.practice_id, there.practice_id) as practice_id,
        here.rows_here,
        there.rows_there
    from here
    full outer join there
        on here.practice_id = there.practice_id
    where coalesce(here.rows_here, 0) != coalesce(there.rows_there, 0)
{% endtest %}
