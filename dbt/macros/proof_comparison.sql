{#
The comparison of the rows that are kept with the total of the source, in words. A list that is read by id has no
total. Rows in quarantine are received, but not kept.
#}
{% macro proof_comparison(kept, counted, quarantined) -%}
    case
        when {{ counted }} is null and {{ kept }} = 0 then 'not counted yet'
        when {{ counted }} is null then 'read by id; the platform has no total to compare with'
        when {{ kept }} = {{ counted }} then 'equal'
        when {{ kept }} > {{ counted }}
            then cast({{ kept }} - {{ counted }} as string) || ' more arrived after the count'
        when {{ kept }} + {{ quarantined }} >= {{ counted }}
            then 'equal, with ' || cast({{ counted }} - {{ kept }} as string) || ' in quarantine'
        else cast({{ counted }} - {{ kept }} - {{ quarantined }} as string) || ' fewer than the platform counted then'
    end
{%- endmacro %}
