select * from {{ ref('int_outreach_requests') }}
