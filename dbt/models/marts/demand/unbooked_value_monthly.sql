{%- set values = var('visit_value') -%}
with unbooked as (
    select
        practice_id,
        cast(date_trunc('month', day) as date) as month
    from {{ ref('int_demand_days') }}
    where
        begun_by = 'client'
        and is_leaked
        and not is_anonymous
)

select
    practice_id,
    month,
    count(*) as unbooked_requests,
    {%- for bound in [0, 1] %}
    cast(
        case
            {%- for practice, range in values.items() if practice != 'default' %}
            when practice_id = {{ text_literal(practice) }} then {{ range[bound] }}
            {%- endfor %}
            when true then {{ values['default'][bound] if 'default' in values else 'null' }}
        end * count(*) as double
    ) as {{ ['assumed_value_low', 'assumed_value_high'][bound] }}{{ ',' if not loop.last }}
    {%- endfor %}
from unbooked
group by practice_id, month
