{#- Names without the file: a view that is stored so is right in a copy of the file, and wherever the file is
   attached under another name, as publishing does. Spark has no databases. -#}
{% macro ref() -%}
    {{ return(builtins.ref(*varargs, **kwargs).include(database=false)) }}
{%- endmacro %}

{% macro source() -%}
    {{ return(builtins.source(*varargs, **kwargs).include(database=false)) }}
{%- endmacro %}
