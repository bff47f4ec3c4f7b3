{#-
    Fails for each combination that occurs twice in an incremental model by day, of those that occur on a day that this
    build took in. A build in full took in all, and runs `unique_combination` too (decision 0408).
-#}
{% test unique_on_changed_days(model, columns) %}
    with changed as (
        select distinct {{ columns | join(', ') }}
        from {{ model }}
        where (practice_id, day) in (
            select practice_id, day from {{ ref('stg_control__changes') }} where table_name = 'phone_calls'
        )
    )

    select
        {{ columns | join(', ') }},
        count(*) as occurrences
    from {{ model }}
    inner join changed using ({{ columns | join(', ') }})
    group by {{ columns | join(', ') }}
    having count(*) > 1
{% endtest %}
