select * from {{ ref('int_practice_days') }}
