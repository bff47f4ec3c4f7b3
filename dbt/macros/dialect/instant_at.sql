{#- The instant at which the practice's wall clock shows a time; the inverse of `local_time`. The first of two if
   the clock goes back and shows it twice. -#}
{% macro instant_at(local, time_zone) -%}
    {{ return(adapter.dispatch('instant_at', 'vetl')(local, time_zone)) }}
{%- endmacro %}

{#- DuckDB's own function takes the second of two: an hour after the hour before is the first, at every midnight
   of every zone. -#}
{% macro duckdb__instant_at(local, time_zone) -%}
    least(
        timezone({{ time_zone }}, {{ local }}),
        timezone({{ time_zone }}, {{ local }} - interval 1 hour) + interval 1 hour
    )
{%- endmacro %}

{% macro spark__instant_at(local, time_zone) -%}
    cast(convert_timezone({{ time_zone }}, 'UTC', cast({{ local }} as timestamp_ntz)) as timestamp)
{%- endmacro %}
