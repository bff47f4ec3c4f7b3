{#- The number behind a spelling: the spelling itself if it is E.164, else the number that loading found for it;
   `spellings` is `stg_control__phone_numbers`, joined by practice and spelling. -#}
{% macro phone(number, spellings) -%}
    case when {{ is_e164(number) }} then {{ number }} else {{ spellings }}.e164 end
{%- endmacro %}
