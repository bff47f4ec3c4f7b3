{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['practice_id', 'session_id', 'stage', 'later_stage'],
) }}
{%- if is_incremental() %}
{%- set scope %}
    {{ ids_with_history('booking_sessions', ref('stg_history__booking_sessions'), 'session_id') }}
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

with versions as (
    select * from {{ in_scope(ref('stg_history__booking_sessions'), ['practice_id', 'session_id']) }}
    where stage is not null
)

-- A session that was seen at one stage and later at another. All pairs, not only neighbours: a sync sees some of them.
select
    earlier.practice_id,
    earlier.session_id,
    earlier.stage,
    later.stage as later_stage,
    count(*) as times
from versions as earlier
inner join versions as later
    on
        earlier.practice_id = later.practice_id
        and earlier.session_id = later.session_id
        and earlier.valid_from < later.valid_from
        and earlier.stage != later.stage
group by earlier.practice_id, earlier.session_id, earlier.stage, later.stage
