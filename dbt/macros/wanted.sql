{#- The wanted service in the words of the calls' classification, whatever list the contact is of: outreach and tasks
   have other words for the same. An unknown word stays as it is. -#}
{% macro wanted(word) -%}
    case
        {%- for own, common in {
            'task': 'scheduling', 'rx_refill': 'prescription_refill', 'refill': 'prescription_refill',
            'callback_followup': 'callback', 'general': 'general_inquiry',
        }.items() %}
        when {{ word }} = '{{ own }}' then '{{ common }}'
        {%- endfor %}
        else {{ word }}
    end
{%- endmacro %}
