select distinct
    practice_id,
    suffix
from {{ ref('int_client_servers') }}
