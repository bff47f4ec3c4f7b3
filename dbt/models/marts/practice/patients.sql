select * from {{ ref('stg_partner__patients') }}
