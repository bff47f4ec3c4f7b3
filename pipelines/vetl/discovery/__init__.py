"""Find by requests the facts that the contract does not show: parameter names, page numbers, bounds, time zones.

Checks are pure generators of `vetl.core.steps`, like strategies. A check sends two requests with two
contrasting values and believes a parameter only if the two answers differ as they should. All requests are reads.

- `examination`     selects the checks of a list and returns the capabilities to store
- `first_look`      decides all parameters of an unknown list at once, if the server behaves as configured
- `ranges`, `range_bounds`, `sizes`, `pagination`, `statuses`, `contents`, `identity`  check one subject each
- `accepted_names`  selects names on lists that are too short to prove any
- `calls`, `csv_calls`, `time_zone`, `people`  check the lists that the contract describes in another way
- `probes`          sends the requests and holds the knowledge of a list
- `capability_store`, `report`  are the two results: capabilities for a sync, findings for `vetl doctor`
"""
