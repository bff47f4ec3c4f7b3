-- That somebody was forgotten, and when: never who. The pseudonym stands in the place of the client's id.
create table control.forgotten (
    practice_id varchar not null,
    pseudonym varchar not null,
    rows bigint not null,
    forgotten_at timestamptz not null
);
