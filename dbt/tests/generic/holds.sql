{#- Fails for each row for which the condition is false. A condition that is null holds: there is nothing to
   judge. -#}
{% test holds(model, condition) %}
    select *
    from {{ model }}
    where not ({{ condition }})
{% endtest %}
