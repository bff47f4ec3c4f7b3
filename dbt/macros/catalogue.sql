{#- The unit of a column, by its name and type. -#}
{% macro unit_of(name, data_type) -%}
    {%- if data_type == 'boolean' -%} {{ return('yes or no') }}
    {%- elif 'minutes' in name and data_type == 'double' -%} {{ return('minutes') }}
    {%- elif 'hours' in name and data_type == 'double' -%} {{ return('hours') }}
    {%- elif name == 'hours' -%} {{ return('hours') }}
    {%- elif 'days' in name and data_type == 'double' -%} {{ return('days') }}
    {%- elif name.endswith(('_rate', '_share')) or name.startswith('share_') -%} {{ return('share, from 0 to 1') }}
    {%- elif data_type == 'date' -%} {{ return('day') }}
    {%- elif data_type == var('instant') -%} {{ return('instant') }}
    {%- elif data_type == var('local_time') -%} {{ return('time on the wall clock') }}
    {%- elif name.endswith('_seconds') -%} {{ return('seconds') }}
    {%- elif data_type == 'bigint' -%} {{ return('count') }}
    {%- elif data_type in ('int', 'double') -%} {{ return('number') }}
    {%- else -%} {{ return('text') }}
    {%- endif -%}
{%- endmacro %}

{#- The unit of a column of a mart: as its meta says, people if it counts different keys, else by name and type. -#}
{% macro unit_of_column(column) -%}
    {%- set meta = column.config.meta or {} -%}
    {%- set counts = meta.get('counts') -%}
    {%- if counts is mapping and 'distinct' in counts -%} {{ return('people') }} {%- endif -%}
    {{ return(meta.get('unit') or unit_of(column.name, column.data_type)) }}
{%- endmacro %}

{#- The definitions that can be set (`[definitions]` in vetl.toml), and the meaning of each. -#}
{% macro definitions() -%}
    {{ return({
        'episode_days': 'After so many days of silence the next contact begins a new booking request (episode).',
        'booking_window_days': 'An appointment made at most so many days after the last contact still counts for the booking request.',
        'lost_after_days': 'So many days after its last contact an unbooked booking request is lost.',
        'lapsed_after_days': 'A client whose last kept visit is so many days ago, with none ahead, has lapsed.',
        'mature_after_hours': 'Outreach that is older has ended by itself: its numbers no longer change.',
        'call_back_within_days': 'Contacts older than this are not worth a call.',
        'follow_up_within_days': 'A fitting task completed within so many days of the last contact is a follow-up.',
        'follow_up_task_types': 'Types of tasks that follow up a contact, by the wanted service.',
        'do_not_chase': 'Outcomes and reasons after which nobody should be chased for the same booking request.',
        'task_outcomes': 'Outcomes of a call that left a task for the practice.',
        'settled_outcomes': 'Outcomes of a call after which a call back can wait.',
        'never_call': 'Outcomes and reasons after which this client or number should not be called at all.',
        'answered_states': 'States of a call in which somebody or the voice agent spoke.',
        'booking_outcomes': 'Outcomes of a call that made a new appointment.',
        'other_intents': 'Outcomes of calls that were not for a new appointment.',
        'call_endings': 'How a call ended for its caller, by its outcome.',
        'booking_task_types': 'Types of staff tasks that mean that a client wants an appointment.',
        'kept_statuses': 'Statuses of an appointment that was kept.',
        'canceled_statuses': 'Statuses of an appointment that was canceled.',
        'no_show_statuses': 'Statuses of an appointment whose client did not come.',
        'booking_stages': 'The stages of online booking in their order; unknown if none is given.',
        'small_sample': 'Days and weeks with fewer calls are marked.',
        'holidays': 'Holidays by practice (else default), as 2025-12-25 or, for every year, 12-25.',
        'visit_value': 'An assumption: the worth of a visit, as a range by practice, else default; none if it is not set.',
        'opening_hour': 'The hour of the wall clock at which practices open.',
        'closing_hour': 'The hour at which they close.',
        'opening_weekdays': 'On how many days of the week they are open, from Monday.',
        'opening_hours_by_practice': 'The opening hours of practices with other hours.',
    }) }}
{%- endmacro %}

{#- How a column is counted from the rows of another mart, as JSON: `counts` of the column's meta over those of the
   model's. -#}
{% macro counting_of(model, meta) -%}
    {%- set counts = meta.get('counts') -%}
    {%- if counts -%}
        {%- set own = {'if': counts} if counts is string else counts -%}
        {{ return(tojson(dict((model.config.meta or {}).get('counts', {}), **own), sort_keys=true)) }}
    {%- endif -%}
    {{ return(none) }}
{%- endmacro %}
