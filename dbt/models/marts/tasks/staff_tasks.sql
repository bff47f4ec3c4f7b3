select * from {{ ref('int_staff_tasks') }}
