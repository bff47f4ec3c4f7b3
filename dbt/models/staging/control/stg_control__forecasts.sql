with source as (
    select * from {{ source('control', 'forecasts') }}
),

renamed as (
    select
        practice_id,
        made_on,
        made_at,
        weeks,
        day,
        hour,
        begins_at,
        {%- for measure in ['calls', 'bookable_calls', 'staff_minutes'] %}
        {{ measure }} as {{ measure }}_expected,
        {{ measure }}_low,
        {{ measure }}_high,
        {{ measure }}_naive {{- ',' if not loop.last }}
        {%- endfor %}
    from source
)

select * from renamed
