{#- The bookings of a client or number: in a contact, or as an appointment of any origin. -#}
{% macro person_bookings() -%}
(
    select
        practice_id,
        person,
        booked_at
    from {{ ref('int_booking_request_timeline') }}
    where
        kind = 'contact'
        and is_booked
    union all
    select
        practice_id,
        person,
        created_at as booked_at
    from {{ ref('int_appointments_identified') }}
    where
        person is not null
        and created_at is not null
)
{%- endmacro %}
