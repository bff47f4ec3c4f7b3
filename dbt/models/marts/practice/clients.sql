select
    practice_id,
    client_id,
    remote_client_id,
    name,
    email,
    phone,
    patient_count
from {{ ref('stg_partner__clients') }}
