-- Spellings of telephone numbers that are not E.164, and what each stands for in the region of its practice: null where it
-- is no number there. A number that is E.164 already stands for itself, and is not kept here.
create table control.phone_numbers (
    practice_id varchar not null,
    spelling varchar not null,
    e164 varchar
);

-- The region (ISO 3166, two letters) by which the spellings of a practice were read; null where none is known.
create table control.phone_regions (
    practice_id varchar not null,
    region varchar
);
