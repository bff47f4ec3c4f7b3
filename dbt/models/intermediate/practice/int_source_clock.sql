-- A table: views that are read after the build use the clock of the build.
{{ config(materialized='table') }}

select max_by(source_clock, started_at) as source_clock
from {{ ref('stg_control__runs') }}
where source_clock is not null
