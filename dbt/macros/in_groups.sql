{#-
    The rows of practices that belong to a group, with its name. A practice without a group, or configured no more, has
    no row: a group that nobody named would look like one that somebody did.
-#}
{% macro in_groups(relation) -%}
    select
        members.*,
        practices.group_name
    from {{ relation }} as members
    inner join {{ ref('practices') }} as practices
        on members.practice_id = practices.practice_id
    where practices.group_name is not null
{%- endmacro %}
