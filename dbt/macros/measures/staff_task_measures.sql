{#- What is counted of staff tasks, by practice or by group. -#}
{% macro staff_task_measures() -%}
    count(*) as created,
    count(*) filter (where status = 'completed') as completed,
    count(*) filter (where status = 'canceled') as canceled,
    count(*) filter (where status = 'pending') as pending,
    {{ median('hours_to_finalize') }} as median_hours_to_finalize,
    {{ median('open_hours_to_finalize') }} as median_open_hours_to_finalize,
    count(*) filter (where is_reopened) as reopened
{%- endmacro %}
