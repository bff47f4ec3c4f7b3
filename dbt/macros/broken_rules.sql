{#- The cases that break a rule of the test `holds`. -#}
{% macro occurs_twice(model, columns) %}
    select 1
    from {{ model }}
    group by {{ columns | join(', ') }}
    having count(*) > 1
{% endmacro %}

{% macro is_not_accounted_for(model, sum) %}
    select 1
    from (
        select
            practice_id,
            {{ sum.total or 'count(*)' }} as rows_here
        from {{ model }}
        group by practice_id
    ) as here
    full outer join (
        select
            practice_id,
            {{ sum.of or 'count(*)' }} as rows_there
        from {{ sum.to }}
        where {{ sum.only or 'true' }}
        group by practice_id
    ) as there
        on here.practice_id = there.practice_id
    where coalesce(here.rows_here, 0) != coalesce(there.rows_there, 0)
{% endmacro %}

{% macro is_unknown_in(model, column, other) %}
    select 1
    from {{ model }} as child
    left join {{ other }} as parent
        on
            child.practice_id = parent.practice_id
            and child.{{ column }} = parent.{{ column }}
    where
        child.{{ column }} is not null
        and parent.{{ column }} is null
{% endmacro %}
