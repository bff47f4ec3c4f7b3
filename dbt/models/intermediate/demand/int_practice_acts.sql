-- What the practice did towards a client or number: an outbound call, a first outreach message, a staff task, a text
-- message of a partner.
select
    practice_id,
    person,
    called_at as acted_at
from {{ ref('int_phone_calls') }}
where direction = 'outbound'
union all
select
    practice_id,
    person,
    contacted_at as acted_at
from {{ ref('int_requests_identified') }}
where contacted_at is not null
union all
select
    practice_id,
    {{ person('client_id', 'null', 'null') }} as person,
    created_at as acted_at
from {{ ref('stg_partner__staff_tasks') }}
where
    client_id is not null
    and created_at is not null
    -- vetl is not the practice: its task waits for a person, who is yet to react.
    and not {{ is_made_by_vetl() }}
union all
select
    practice_id,
    {{ person('client_id', 'null', 'null') }} as person,
    sent_at as acted_at
from {{ ref('stg_partner__messages') }}
where
    client_id is not null
    and sent_at is not null
