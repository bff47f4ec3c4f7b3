select distinct day
from {{ ref('int_practice_days') }}
