{#- The practice's wall clock at an instant; null if the zone is unknown. -#}
{% macro local_time(instant, time_zone) -%}
    {{ return(adapter.dispatch('local_time', 'vetl')(instant, time_zone)) }}
{%- endmacro %}

{#- DuckDB has a database of time zones of its own. `zone_corrections` has the times in which it is another one than
   that which decides (decision 40), with the seconds to add. -#}
{% macro duckdb__local_time(instant, time_zone) -%}
    timezone({{ time_zone }}, {{ instant }})
    {%- for zone, spans in var('zone_corrections').items() -%}
        {%- for first, end, seconds in spans %}
    + case
        when {{ time_zone }} = '{{ zone }}' and {{ instant }} >= timestamptz '{{ first }}' and {{ instant }} < timestamptz '{{ end }}'
        then interval '{{ seconds }} seconds' else interval '0 seconds'
    end
        {%- endfor -%}
    {%- endfor -%}
{%- endmacro %}

{% macro spark__local_time(instant, time_zone) -%}
    convert_timezone('UTC', {{ time_zone }}, cast({{ instant }} as timestamp_ntz))
{%- endmacro %}
