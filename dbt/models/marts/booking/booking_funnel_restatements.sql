with versions as (
    select
        practice_id,
        day,
        valid_from,
        valid_to,
        true as sessions,
        status = 'completed' as completed,
        status = 'abandoned' as abandoned,
        status = 'active' as active,
        has_appointment as with_appointment
    from {{ ref('stg_history__booking_sessions') }}
),

{{ restatements('versions', ['sessions', 'completed', 'abandoned', 'active', 'with_appointment']) }}
