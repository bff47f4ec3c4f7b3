select distinct day
from {{ ref('practice_days') }}
