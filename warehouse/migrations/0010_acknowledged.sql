-- Rows in quarantine that somebody has looked at: since when, and the reason given. The exit codes do not count them.
alter table control.quarantine add column acknowledged_at timestamptz;
alter table control.quarantine add column acknowledged_reason varchar;
