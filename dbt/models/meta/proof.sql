with practices as (
    select * from {{ ref('stg_control__practices') }}
),

windows as (
    select
        *,
        -- Instants are read through a moving tail that the next read covers again; days are separate windows.
        coalesce(length(window_end) = 10, false) as is_by_day
    from {{ ref('stg_control__windows') }}
    where
        status is null
        and not {{ is_one_of('kind', var('windows').apart) }}
),

lists as (
    select
        practice_id,
        endpoint,
        min(coalesce(window_start, '')) as first_start
    from windows
    group by practice_id, endpoint
),

-- The last run that read the list from its beginning, and the total that the source gave it.
whole_reads as (
    select
        windows.practice_id,
        windows.endpoint,
        windows.run_id
    from windows
    inner join lists
        on
            windows.practice_id = lists.practice_id
            and windows.endpoint = lists.endpoint
            and coalesce(windows.window_start, '') = lists.first_start
    where windows.is_certified
    qualify row_number() over (
        partition by windows.practice_id, windows.endpoint
        order by windows.finished_at desc, windows.run_id asc
    ) = 1
),

-- A run that misses a row reads the list once more before it reports that: each window counts once, in its
-- last reading.
told_windows as (
    select windows.*
    from windows
    inner join whole_reads
        on
            windows.practice_id = whole_reads.practice_id
            and windows.endpoint = whole_reads.endpoint
            and windows.run_id = whole_reads.run_id
    where
        windows.is_certified
        and (windows.kind != '{{ var('windows').moving }}' or windows.is_by_day)
    qualify row_number() over (
        partition by windows.practice_id, windows.endpoint, windows.window_start, windows.window_end
        order by windows.finished_at desc, windows.total_last asc
    ) = 1
),

source_counts as (
    select
        practice_id,
        endpoint,
        sum(total_last) as source_count,
        max(finished_at) as source_counted_at,
        max_by(reason, finished_at) as evidence
    from told_windows
    group by practice_id, endpoint
),

-- The state of each window when it was read last.
latest_windows as (
    select
        windows.*,
        practices.time_zone,
        cast(try_cast(windows.window_start as date) as timestamp) as first_midnight,
        cast(try_cast(windows.window_end as date) + 1 as timestamp) as last_midnight
    from windows
    inner join practices
        on windows.practice_id = practices.practice_id
    where windows.kind != '{{ var('windows').moving }}'
    qualify row_number() over (
        partition by windows.practice_id, windows.endpoint, windows.window_start, windows.window_end
        order by windows.finished_at desc
    ) = 1
),

bounded as (
    select
        *,
        case
            when is_by_day then {{ instant_at('first_midnight', 'time_zone') }}
            else try_cast(window_start as {{ var('instant') }})
        end as starts_at,
        case
            when is_by_day then {{ instant_at('last_midnight', 'time_zone') }}
            when window_end is null then started_at
            else try_cast(window_end as {{ var('instant') }})
        end as ends_at
    from latest_windows
),

-- The time before which every window is certified.
certified as (
    select
        practice_id,
        endpoint,
        least(
            max(ends_at) filter (where is_certified),
            coalesce(min(starts_at) filter (where not is_certified), max(ends_at) filter (where is_certified))
        ) as certified_through
    from bounded
    group by practice_id, endpoint
),

stored as (
    {% for endpoint, table in var('lists').items() -%}
    select
        practice_id,
        '{{ endpoint }}' as endpoint,
        count(*) as warehouse_count
    from {{ ref('stg_partner__' ~ table) }}
    group by practice_id
    {{ 'union all' if not loop.last }}
    {% endfor %}
),

restated as (
    select
        practice_id,
        endpoint,
        count(*) as restated_rows
    from {{ ref('stg_control__restatements') }}
    group by practice_id, endpoint
),

quarantined as (
    select
        practice_id,
        endpoint,
        count(*) as quarantined_rows
    from {{ ref('stg_control__quarantine') }}
    where resolved_at is null
    group by practice_id, endpoint
),

-- A reconcile counts for each list that it read and certified, whether or not other lists failed. A list that
-- is read by id counts only if a list mentioned its ids.
reconciled as (
    select
        lists_read.practice_id,
        lists_read.endpoint,
        max(runs.source_clock) as last_reconcile_at
    from {{ ref('stg_control__run_lists') }} as lists_read
    inner join {{ ref('stg_control__runs') }} as runs
        on lists_read.run_id = runs.run_id
    where
        lists_read.state = 'certified'
        and runs.command = 'reconcile'
        and exists (
            select 1 from {{ ref('stg_control__windows') }} as proven
            where
                proven.run_id = lists_read.run_id
                and proven.practice_id = lists_read.practice_id
                and proven.is_certified
        )
    group by lists_read.practice_id, lists_read.endpoint
),

-- A list that could not be read yet has a row without facts.
known as (
    {% for endpoint in var('lists') -%}
    select
        practice_id,
        '{{ endpoint }}' as endpoint
    from practices
    union
    {% endfor -%}
    select
        practice_id,
        endpoint
    from lists
    union
    select
        practice_id,
        endpoint
    from stored
)

select
    known.practice_id,
    known.endpoint,
    cast(source_counts.source_count as bigint) as source_count,
    coalesce(stored.warehouse_count, 0) as warehouse_count,
    certified.certified_through,
    source_counts.evidence,
    reconciled.last_reconcile_at,
    coalesce(restated.restated_rows, 0) as restated_rows,
    coalesce(quarantined.quarantined_rows, 0) as quarantined_rows,
    source_counts.source_counted_at,
    {{ proof_comparison(
        'coalesce(stored.warehouse_count, 0)', 'source_counts.source_count', 'coalesce(quarantined.quarantined_rows, 0)'
    ) }} as comparison,
    lists_read.read_at
from known
left join {{ ref('int_lists_read') }} as lists_read
    on
        known.practice_id = lists_read.practice_id
        and known.endpoint = lists_read.endpoint
left join reconciled
    on
        known.practice_id = reconciled.practice_id
        and known.endpoint = reconciled.endpoint
left join source_counts
    on
        known.practice_id = source_counts.practice_id
        and known.endpoint = source_counts.endpoint
left join stored
    on
        known.practice_id = stored.practice_id
        and known.endpoint = stored.endpoint
left join certified
    on
        known.practice_id = certified.practice_id
        and known.endpoint = certified.endpoint
left join restated
    on
        known.practice_id = restated.practice_id
        and known.endpoint = restated.endpoint
left join quarantined
    on
        known.practice_id = quarantined.practice_id
        and known.endpoint = quarantined.endpoint
