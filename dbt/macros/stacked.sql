{#- Rows with one area's counts, and zeros for the counts of other areas: stacked and added up, they are one row
   for each practice and day or week, whichever areas have counts there. `own` are name and expression. -#}
{% macro stacked(names, own) -%}
    {%- for name in names %}
        cast({{ own.get(name, 0) }} as bigint) as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
{%- endmacro %}

{#- The names of the counts of `practice_daily` and `practice_weekly`, callers aside. -#}
{% macro practice_counts() -%}
    {{ return([
        'calls', 'answered_calls', 'new_booking_intent_calls', 'missed_new_booking_calls', 'sessions', 'completed',
        'outreach_requests', 'contacted', 'booked', 'tasks_created', 'tasks_completed', 'leaks',
        'inbound_calls', 'answered_inbound_calls', 'anonymous_not_booked',
    ]) }}
{%- endmacro %}

{% macro caller_counts() -%}
    {{ return([
        'unique_callers', 'new_booking_callers', 'booked_within_7_days', 'missed_callers', 'recovered_within_7_days',
    ]) }}
{%- endmacro %}
