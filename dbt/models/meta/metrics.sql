{#- From the semantic models and metrics of dbt/models/metrics, and from the columns of marts that count people. -#}
{%- set models = {} -%}
{%- set rows = [] -%}
{%- if execute -%}
    {%- for model in graph.semantic_models.values() if model.measures -%}
        {%- set meta = model.config.meta -%}
        {%- set mart = model.node_relation.alias -%}
        {%- set dimensions = {} -%}
        {%- for dimension in model.dimensions if dimension.type == 'categorical' -%}
            {%- do dimensions.update({dimension.name: dimension.expr or dimension.name}) -%}
        {%- endfor -%}
        {%- set better = meta.get('better', {}) -%}
        {%- for measure in model.measures -%}
            {%- do models.update({measure.name: model}) -%}
            {%- set days = matures_after_days(meta, measure.name) -%}
            {%- do rows.append([
                measure.name, measure.label, meta.get('units', {}).get(measure.name) or metric_unit(measure.name, measure.agg), dimensions | join(', '),
                graph.nodes['model.vetl.' ~ mart].config.meta.grain, better_direction(better, measure.name),
                measure.agg in ['count', 'sum'],
                metric_maturity(days, measure.name in meta.get('of_now', [])), measure.description, mart,
                {
                    'aggregation': measure.agg, 'expression': measure.expr, 'dimensions': dimensions,
                    'lists': meta.lists,
                    'matures_after_days': days,
                    'of_now': measure.name in meta.get('of_now', []),
                    'needs': meta.get('overlap_by', []) if measure.name not in meta.get('do_not_overlap', []) else [],
                },
            ]) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- for metric in graph.metrics.values() if metric.type == 'ratio' -%}
        {%- set model = models[metric.type_params.numerator.name] -%}
        {%- set meta = model.config.meta -%}
        {%- set days = matures_after_days(meta, metric.type_params.numerator.name) -%}
        {%- do rows.append([
            metric.name, metric.label, metric_unit(metric.name, 'ratio'), none, none,
            better_direction(meta.get('better', {}), metric.name), false, metric_maturity(days), metric.description,
            model.node_relation.alias,
            {
                'aggregation': 'ratio', 'numerator': metric.type_params.numerator.name,
                'denominator': metric.type_params.denominator.name, 'lists': meta.lists, 'matures_after_days': days,
            },
        ]) -%}
    {%- endfor -%}
    {%- for model in graph.nodes.values() if model.resource_type == 'model' and model.config.meta.get('people_by') -%}
        {%- for column in model.columns.values() if column.config.meta.get('counts_people') -%}
            {%- set days = matures_after_days(column.config.meta, column.name) -%}
            {%- do rows.append([
                column.name, column.config.meta.counts_people, 'people', none, model.config.meta.grain,
                column.config.meta.get('better'), false, metric_maturity(days), column.description, model.name,
                {
                    'aggregation': 'people', 'by': model.config.meta.people_by, 'lists': model.config.meta.people_in,
                    'matures_after_days': days,
                },
            ]) -%}
        {%- endfor -%}
    {%- endfor -%}
{%- endif -%}

{%- set names = [
    'metric', 'words', 'unit', 'dimensions', 'grain', 'better', 'additive', 'maturity', 'definition', 'mart', 'counting',
] -%}
{%- set texts = [] -%}
{%- for row in rows -%}
    {%- set written = [] -%}
    {%- for value in row -%}
        {%- do written.append(tojson(value, sort_keys=true) if value is mapping or value is boolean else value) -%}
    {%- endfor -%}
    {%- do texts.append(written) -%}
{%- endfor -%}
with listed as (
    select *
    from (
        values
        {{ literal_rows(texts | sort(attribute='0') or [[none] * 11]) }}
    ) as listed ({{ names | join(', ') }})
)

select
    {%- for name in names %}
    cast({{ name }} as {{ 'boolean' if name == 'additive' else 'string' }}) as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
from listed
where metric is not null
