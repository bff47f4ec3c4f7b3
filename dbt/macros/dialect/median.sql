{#- The middle value, or the middle between the two middle ones; null where there is none. The same to the last bit. -#}
{% macro median(value) -%}
    {{ return(adapter.dispatch('median', 'vetl')(value)) }}
{%- endmacro %}

{% macro duckdb__median(value) -%}
    median({{ value }})
{%- endmacro %}

{#- Its own adds half of their distance to the lower one, which rounds otherwise. -#}
{% macro spark__median(value) -%}
    {%- set lower = "percentile_disc(0.5) within group (order by " ~ value ~ ")" -%}
    {%- set upper = "percentile_disc(0.5) within group (order by " ~ value ~ " desc)" -%}
    ({{ lower }} + {{ upper }}) / 2e0
{%- endmacro %}
