{#-
    Fails for each combination that occurs twice. Nulls are equal here, as they are in `group by`.
    After an incremental build the rows that it wrote are judged, with all that share their key; of a view, the rows that
    it wrote into the model `judged_by`. -#}
{% test unique_combination(model, columns, judged_by=none) %}
    select
        {{ columns | join(', ') }},
        count(*) as occurrences
    from {{ rows_to_judge(model, columns, judged_by or model) }}
    group by {{ columns | join(', ') }}
    having count(*) > 1
{% endtest %}
