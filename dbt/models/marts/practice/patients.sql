select
    practice_id,
    patient_id,
    client_id,
    name,
    species,
    breed
from {{ ref('stg_partner__patients') }}
