with requests as (
    select
        staged.*,
        spellings.e164 as phone
    from {{ ref('stg_partner__ai_outbound_requests') }} as staged
    left join {{ ref('stg_control__phone_numbers') }} as spellings
        on
            staged.practice_id = spellings.practice_id
            and staged.contact_number = spellings.spelling
),

identified as (
    select
        requests.practice_id,
        requests.request_id,
        'outreach:' || requests.request_id as contact,
        coalesce(requests.client_id, phones.client_id) as client_id,
        requests.phone,
        requests.purpose,
        requests.status,
        requests.outcome,
        requests.suppression_reason,
        requests.created_at,
        requests.contacted_at,
        requests.completed_at
    from requests
    left join {{ ref('int_client_phones') }} as phones
        on
            requests.practice_id = phones.practice_id
            and requests.phone = phones.phone
)

select
    *,
    {{ person('client_id', 'phone', 'contact') }} as person
from identified
