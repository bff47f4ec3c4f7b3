{#-
    What two spellings of one telephone number share: its last ten digits. Null for what is too short to be a number,
    such as a withheld one.
-#}
{% macro phone_digits(number) -%}
    case when length({{ digits_of(number) }}) >= 7 then right({{ digits_of(number) }}, 10) end
{%- endmacro %}
