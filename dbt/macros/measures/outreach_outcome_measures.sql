{#- The counts of outreach requests, by practice or by group. -#}
{% macro outreach_outcome_measures() -%}
    count(*) as requests,
    count(*) filter (where is_contacted) as contacted,
    count(*) filter (where outcome = 'booked') as booked,
    count(*) filter (where outcome = 'opted_out') as opted_out,
    count(*) filter (where outcome = 'no_response') as no_response,
    count(*) filter (where outcome = 'undeliverable') as undeliverable,
    count(*) filter (where status = 'suppressed') as suppressed,
    count(*) filter (where is_failed_undispatched) as failed_undispatched,
    count(*) filter (where is_open) as open,
    {{ median('hours_to_contact') }} as median_hours_to_contact,
    {{ median('hours_to_outcome') }} as median_hours_to_outcome,
    bool_and(is_mature) as is_mature
{%- endmacro %}
