{#-
    Fails for each row whose id is not in another model of the same practice. `column_name` is the id here, `field` its
    name there.
-#}
{% test known_in(model, column_name, to, field) %}
    select
        child.practice_id,
        child.{{ column_name }}
    from {{ model }} as child
    left join {{ to }} as parent
        on
            child.practice_id = parent.practice_id
            and child.{{ column_name }} = parent.{{ field }}
    where
        child.{{ column_name }} is not null
        and parent.{{ field }} is null
{% endtest %}
