{#- Whether `vetl act` made a staff task: by its code, or by its id if a person has rewritten it. -#}
{% macro is_made_by_vetl() -%}
    (
        coalesce(description, '') like '%[vetl %'
        or coalesce(title, '') like '%[vetl %'
        or (practice_id, task_id) in (
            select
                acts.practice_id,
                acts.task_id
            from {{ ref('stg_control__acts') }} as acts
            where acts.task_id is not null
        )
    )
{%- endmacro %}
