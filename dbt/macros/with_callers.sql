{#- The callers of calls: calls with the same ids and number have the same caller. `client_id` is the column with the
   client id of the call. -#}
{% macro with_callers(calls, client_id) -%}
    left join {{ ref('int_callers') }} as callers
        on
            {{ calls }}.practice_id = callers.practice_id
            and {{ calls }}.{{ client_id }} is not distinct from callers.call_client_id
            and {{ calls }}.remote_client_id is not distinct from callers.remote_client_id
            and {{ calls }}.phone_number is not distinct from callers.phone_number
{%- endmacro %}
