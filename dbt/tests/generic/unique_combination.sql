{#- Fails for each combination that occurs twice. Nulls are equal here, as they are in `group by`. -#}
{% test unique_combination(model, columns) %}
    select
        {{ columns | join(', ') }},
        count(*) as occurrences
    from {{ model }}
    group by {{ columns | join(', ') }}
    having count(*) > 1
{% endtest %}
