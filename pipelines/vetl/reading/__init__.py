"""Read one list until it is proven whole: strategies are pure generators of `vetl.core.steps`, without I/O.

`read_list` selects the strategy: `updated_windows`, `undated_lists`, `by_id`, or `call_schedule` with `call_days`
and `call_details`. They stand on `paging` (one pass), `certified` (a window), `whole_list` and `coverage` (the
cursors). All that is learnt about a server comes from `vetl.discovery`.
"""
