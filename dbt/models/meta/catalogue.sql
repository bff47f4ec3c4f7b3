{#- From the yml files of the marts, and the definitions as they are set. -#}
{%- set rows = [] -%}
{%- if execute -%}
    {%- for model in graph.nodes.values() if model.resource_type == 'model' and model.fqn[1] in ['marts', 'meta'] -%}
        {%- do rows.append([model.name, none, model.description, none, none, 'from ' ~ model.fqn[1] ~ '.' ~ model.name ~ ' limit 5', none, none]) -%}
        {%- for column in model.columns.values() -%}
            {%- set meta = column.config.meta or {} -%}
            {%- do rows.append([
                model.name, column.name, column.description, unit_of_column(column),
                meta.get('definition'), 'select ' ~ column.name ~ ' from ' ~ model.fqn[1] ~ '.' ~ model.name ~ ' limit 5',
                meta.get('counted_as'), counting_of(model, meta),
            ]) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- for name, meaning in definitions().items() -%}
        {%- do rows.append(['definitions', name, meaning, none, tojson(var(name)), none, none, none]) -%}
    {%- endfor -%}
{%- endif -%}

{%- set names = ['table_name', 'column_name', 'description', 'unit', 'definition', 'example', 'counted_as', 'counting'] -%}
with described as (
    select *
    from (
        values
        {{ literal_rows(rows or [[none] * 8]) }}
    ) as listed ({{ names | join(', ') }})
)

select
    {%- for name in names %}
    cast({{ name }} as string) as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
from described
where table_name is not null
