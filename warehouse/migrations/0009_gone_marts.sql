-- Marts of earlier versions that no model makes any more: publishing would say of each that it is left out.
drop table if exists marts.booking_funnel_by_group;
drop table if exists marts.booking_funnel_stages_by_group;
drop table if exists marts.booking_intent_by_group;
drop table if exists marts.booking_intent_hourly_by_group;
drop table if exists marts.outreach_outcomes_by_group;
drop table if exists marts.outreach_suppressions_by_group;
drop table if exists marts.staff_task_turnaround_by_group;
drop table if exists marts.booking_funnel_restatements;
drop table if exists marts.booking_intent_restatements;
