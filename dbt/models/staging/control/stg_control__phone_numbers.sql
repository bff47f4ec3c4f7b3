with source as (
    select * from {{ source('control', 'phone_numbers') }}
),

renamed as (
    select
        practice_id,
        spelling,
        e164
    from source
)

select * from renamed
