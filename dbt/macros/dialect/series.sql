{#- One row for each day or hour from the first to the last, both included; no row if either is null. -#}
{% macro each_day(first, last) -%}
    {{ return(adapter.dispatch('each_day', 'vetl')(first, last)) }}
{%- endmacro %}

{% macro duckdb__each_day(first, last) -%}
    cast(unnest(generate_series(cast({{ first }} as timestamp), cast({{ last }} as timestamp), interval 1 day)) as date)
{%- endmacro %}

{#- Spark's sequences run backwards or fail if the last comes before the first. -#}
{% macro spark__each_day(first, last) -%}
    explode(
        case when {{ first }} <= {{ last }} then sequence(cast({{ first }} as date), cast({{ last }} as date), interval 1 day) end
    )
{%- endmacro %}

{% macro each_hour(first, last) -%}
    {{ return(adapter.dispatch('each_hour', 'vetl')(first, last)) }}
{%- endmacro %}

{% macro duckdb__each_hour(first, last) -%}
    unnest(generate_series({{ first }}, {{ last }}, interval 1 hour))
{%- endmacro %}

{% macro spark__each_hour(first, last) -%}
    explode(case when {{ first }} <= {{ last }} then sequence({{ first }}, {{ last }}, interval 1 hour) end)
{%- endmacro %}
