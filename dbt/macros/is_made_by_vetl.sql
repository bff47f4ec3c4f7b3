{#- Whether `vetl act` made a staff task: by its code, or by its id if a person has rewritten it. -#}
{% macro is_made_by_vetl(tasks) -%}
    (
        coalesce({{ tasks }}.description, '') like '%[vetl %'
        or coalesce({{ tasks }}.title, '') like '%[vetl %'
        or exists (
            select 1 from {{ ref('stg_control__acts') }} as acts
            where acts.practice_id = {{ tasks }}.practice_id and acts.task_id = {{ tasks }}.task_id
        )
    )
{%- endmacro %}
