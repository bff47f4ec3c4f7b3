{#- Whether a column holds one of the words of a definition: false if it is null or the definition has no word. -#}
{% macro is_one_of(column, words) -%}
    {%- if words -%}
        coalesce({{ column }} in ('{{ words | join("', '") }}'), false)
    {%- else -%}
        false
    {%- endif -%}
{%- endmacro %}
