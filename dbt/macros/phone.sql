{#-
    The number that a spelling stands for: itself where it is E.164, else what loading read it as; `spellings` is
    `stg_control__phone_numbers`, joined by practice and spelling.
-#}
{% macro phone(number, spellings) -%}
    case when {{ is_e164(number) }} then {{ number }} else {{ spellings }}.e164 end
{%- endmacro %}
