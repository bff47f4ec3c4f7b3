{#- The middle value, or the mean of the two middle values; null if there is none. The same to the last bit on
   every engine. -#}
{% macro median(value) -%}
    {{ return(adapter.dispatch('median', 'vetl')(value)) }}
{%- endmacro %}

{% macro duckdb__median(value) -%}
    median({{ value }})
{%- endmacro %}

{#- DuckDB's own function adds half of their distance to the lower value, which rounds differently. -#}
{% macro spark__median(value) -%}
    {%- set lower = "percentile_disc(0.5) within group (order by " ~ value ~ ")" -%}
    {%- set upper = "percentile_disc(0.5) within group (order by " ~ value ~ " desc)" -%}
    ({{ lower }} + {{ upper }}) / 2e0
{%- endmacro %}
