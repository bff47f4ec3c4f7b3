{#- All that must hold of a model, in one query: one row for each broken rule, with its name and its cases. One node
   costs dbt as much as another, whatever it asks.

   key: these columns together occur once. Nulls are equal here, as they are in `group by`.
   ties_out: the rows of each practice are all accounted for: `total` of this model equals `of` of `to`, by default
      the number of rows, with `only` the number of those for which it holds. Several may be given as a list.
   conditions: by name, what is true of each row. A condition that is null holds: there is nothing to judge.
   not_null: these columns have a value in each row.
   known_in: by column, the model of the same practice that has each of its ids in a column of the same name.
   accepted: by column, the values that it may have. -#}
{% test holds(model, key=[], ties_out=[], conditions={}, not_null=[], known_in={}, accepted={}) %}
    {{ config(fail_calc='coalesce(sum(cases), 0)') }}
    {%- set rules = [] -%}
    {%- if key -%}
        {% do rules.append(['key', occurs_twice(model, key)]) %}
    {%- endif -%}
    {%- for sum in ([ties_out] if ties_out is mapping else ties_out) -%}
        {% do rules.append(['ties out with ' ~ sum.to.identifier, is_not_accounted_for(model, sum)]) %}
    {%- endfor -%}
    {%- for name, condition in conditions.items() -%}
        {% do rules.append([name, 'select 1 from ' ~ model ~ ' where not (' ~ condition ~ ')']) %}
    {%- endfor -%}
    {%- for column in not_null -%}
        {% do rules.append([column ~ ' is never null', 'select 1 from ' ~ model ~ ' where ' ~ column ~ ' is null']) %}
    {%- endfor -%}
    {%- for column, other in known_in.items() -%}
        {% do rules.append([column ~ ' is known in ' ~ other.identifier, is_unknown_in(model, column, other)]) %}
    {%- endfor -%}
    {%- for column, values in accepted.items() -%}
        {%- set listed = values | join("', '") -%}
        {% do rules.append([column ~ ' is listed', 'select 1 from ' ~ model ~ ' where ' ~ column ~ " not in ('" ~ listed ~ "')"]) %}
    {%- endfor -%}
    {%- for name, cases in rules %}
    select
        '{{ name }}' as rule,
        count(*) as cases
    from ({{ cases }}) as cases
    having count(*) > 0
    {%- if not loop.last %}
    union all
    {%- endif -%}
    {%- endfor %}
{% endtest %}
