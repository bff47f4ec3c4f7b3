{#- Fails for each combination that occurs twice in an incremental model, of those on a day that this build took
   in. A build in full took in all days, and runs `unique_combination` too (decision 0408). -#}
{% test unique_among_changed(model, columns) %}
    with changed as (
        select distinct {{ columns | join(', ') }}
        from {{ model }}
        {% if target.type == 'duckdb' %}where (practice_id, day) in ({{ changed_days('phone_calls') }}){% endif %}
    )

    select
        {{ columns | join(', ') }},
        count(*) as occurrences
    from {{ model }}
    inner join changed using ({{ columns | join(', ') }})
    group by {{ columns | join(', ') }}
    having count(*) > 1
{% endtest %}
