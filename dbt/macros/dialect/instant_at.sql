{#- The instant at which the practice's wall clock shows a time; the inverse of `local_time`. The first of two if
   the clock goes back and shows it twice. -#}
{% macro instant_at(local, time_zone) -%}
    {{ return(adapter.dispatch('instant_at', 'vetl')(local, time_zone)) }}
{%- endmacro %}

{#- DuckDB's own function takes the second of two: an hour after the hour before is the first, at every midnight
   of every zone. If there are times to correct, the first instant counts that has this local time. -#}
{% macro duckdb__instant_at(local, time_zone) -%}
    {%- set seconds = [0] -%}
    {%- for spans in var('zone_corrections').values() -%}
        {%- for span in spans %}{% do seconds.append(span[2]) %}{% endfor -%}
    {%- endfor -%}
    {%- set candidates = [] -%}
    {%- for later in seconds | unique -%}
        {%- set shifted = '(' ~ local ~ " - interval '" ~ later ~ " seconds')" if later else local -%}
        {%- do candidates.append('timezone(' ~ time_zone ~ ', ' ~ shifted ~ ')') -%}
        {%- do candidates.append('timezone(' ~ time_zone ~ ', ' ~ shifted ~ ' - interval 1 hour) + interval 1 hour') -%}
    {%- endfor -%}
    {%- if candidates | length > 2 -%}
    coalesce(
        least(
            {%- for at in candidates %}
            case when {{ duckdb__local_time(at, time_zone) }} = {{ local }} then {{ at }} end{{ ',' if not loop.last }}
            {%- endfor %}
        ),
        least({{ candidates[0] }}, {{ candidates[1] }})
    )
    {%- else -%}
    least({{ candidates[0] }}, {{ candidates[1] }})
    {%- endif -%}
{%- endmacro %}

{% macro spark__instant_at(local, time_zone) -%}
    cast(convert_timezone({{ time_zone }}, 'UTC', cast({{ local }} as timestamp_ntz)) as timestamp)
{%- endmacro %}
