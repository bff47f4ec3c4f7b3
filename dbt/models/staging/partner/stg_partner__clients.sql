with source as (
    select * from {{ source('partner', 'clients') }}
    where _deleted_at is null
),

renamed as (
    select
        -- ids
        practice_id,
        id as client_id,
        nullif(remote_id, '') as remote_client_id,

        -- text
        nullif(name, '') as name,
        nullif(email, '') as email,
        nullif(phone, '') as phone,

        -- numerics
        cast(json_array_length(patients) as bigint) as patient_count
    from source
)

select * from renamed
