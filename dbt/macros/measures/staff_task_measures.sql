{#- The counts of staff tasks. Durations are those of completed tasks: a cancellation is no work. -#}
{% macro staff_task_measures() -%}
    count(*) as created,
    count(*) filter (where status = 'completed') as completed,
    count(*) filter (where status = 'canceled') as canceled,
    count(*) filter (where status = 'pending') as pending,
    {{ median("case when status = 'completed' then hours_to_finalize end") }} as median_hours_to_finalize,
    {{ median("case when status = 'completed' then open_hours_to_finalize end") }} as median_open_hours_to_finalize,
    count(*) filter (where is_reopened) as reopened,
    {{ median('hours_pending') }} as median_hours_pending
{%- endmacro %}
