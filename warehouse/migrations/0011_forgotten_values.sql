-- By which values a forgotten person is recognised when the platform sends them again, and their pseudonyms: keyed digests of
-- ids, numbers, addresses and names, never the values. `span` counts the words or the digits that a value has.
create table control.forgotten_values (
    practice_id varchar not null,
    kind varchar not null,
    span integer not null,
    digest varchar not null,
    pseudonym varchar not null
);

-- The key of a practice's digests: ids are so short that anybody could try them all without it.
create table control.forgotten_keys (
    practice_id varchar not null,
    key varchar not null
);
