select * from {{ ref('int_booking_sessions') }}
