select max(source_clock) as source_clock
from {{ ref('stg_control__runs') }}
