{#- The last value that is not null among the rows up to this row, in an order. -#}
{% macro last_known(value, partition_by, order_by) -%}
    {{ return(adapter.dispatch('last_known', 'vetl')(value, partition_by, order_by)) }}
{%- endmacro %}

{% macro duckdb__last_known(value, partition_by, order_by) -%}
    last_value({{ value }} ignore nulls) over (
        partition by {{ partition_by }}
        order by {{ order_by }}
        rows between unbounded preceding and current row
    )
{%- endmacro %}

{% macro spark__last_known(value, partition_by, order_by) -%}
    last_value({{ value }}, true) over (
        partition by {{ partition_by }}
        order by {{ order_by }}
        rows between unbounded preceding and current row
    )
{%- endmacro %}
