-- vetl looks for facts in the other marts once they are built, and writes them here again.
select * from {{ ref('stg_control__headlines') }}
