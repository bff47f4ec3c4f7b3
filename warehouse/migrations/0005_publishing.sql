-- Which build it was, and the one whose marts it changed; null where it made them anew. The published file shows one of
-- them, and is changed as the marts were where it shows the one before (pipelines/vetl/loading/published/record.py).
alter table control.builds add column build_id varchar;
alter table control.builds add column previous_id varchar;
