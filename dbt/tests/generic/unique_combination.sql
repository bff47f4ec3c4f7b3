{#-
    Fails for each combination that occurs twice. Nulls are equal here, as they are in `group by`.
    After an incremental build the rows that it wrote are judged, with all that share their key. -#}
{% test unique_combination(model, columns) %}
    select
        {{ columns | join(', ') }},
        count(*) as occurrences
    from {{ rows_to_judge(model, columns) }}
    group by {{ columns | join(', ') }}
    having count(*) > 1
{% endtest %}
