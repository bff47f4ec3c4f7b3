with source as (
    select * from {{ source('partner', 'patients') }}
    where _deleted_at is null
),

renamed as (
    select
        -- ids
        practice_id,
        id as patient_id,
        nullif(client_id, '') as client_id,

        -- text
        nullif(name, '') as name,
        nullif(species, '') as species,
        nullif(breed, '') as breed
    from source
)

select * from renamed
