-- Ids that rows of other lists mention and that nobody has looked up yet, so that a sync need not search all of raw
-- for them. Written with the rows that mention them, taken out with the answer.
create table control.mentions (
    practice_id varchar not null,
    endpoint varchar not null,
    id varchar not null
);

-- An id is either read or missing, as it was last seen.
delete from control.lookups as read using control.missing_records as missing
where read.practice_id = missing.practice_id and read.endpoint = missing.endpoint and read.id = missing.id;

create index mentions_id on control.mentions (id);
create index lookups_id on control.lookups (id);
create index missing_records_id on control.missing_records (id);
