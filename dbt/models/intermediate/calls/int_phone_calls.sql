select *
from {{ ref('int_calls_by_day') }}
where call_key is not null
