{#-
    Fails for each practice whose rows are not all accounted for: `total` of this model against the number of rows of
    `to`, of those where `only` holds. With `by: group_name`, for each group instead, of the practices that have one.
-#}
{% test ties_out(model, to, total='count(*)', only='true', by='practice_id') %}
    with here as (
        select
            {{ by }},
            {{ total }} as rows_here
        from {{ model }}
        group by {{ by }}
    ),

    source as (
        {% if by == 'group_name' %}{{ in_groups(to) }}{% else %}select * from {{ to }}{% endif %}
    ),

    there as (
        select
            {{ by }},
            count(*) as rows_there
        from source
        where {{ only }}
        group by {{ by }}
    )

    select
        coalesce(here.{{ by }}, there.{{ by }}) as {{ by }},
        here.rows_here,
        there.rows_there
    from here
    full outer join there
        on here.{{ by }} = there.{{ by }}
    where coalesce(here.rows_here, 0) != coalesce(there.rows_there, 0)
{% endtest %}
