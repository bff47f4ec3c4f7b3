"""Find by requests the facts that the contract does not show: parameter names, page numbers, bounds, time zones.

Checks are pure generators of `vetl.core.steps`, like strategies. A check sends two requests with two
contrasting values and believes a parameter only if the two answers differ as they should. All requests are reads.

- `discover`        runs the checks that a sync needs, and holds the capabilities to store
- `first_look`      decides all parameters of an unknown list at once, if the server behaves as configured
- `ranges`, `page_parameters`, `identity`  check one subject each
- `parameter_names` has the names to try, checks the status filter, and selects names on lists that are too short
- `probes`          sends the requests, and holds the knowledge of a list and the findings
- `conventions`     is the result for `reading`
- `examination`     runs all checks, also of rows, for `vetl doctor`; `calls_and_people` checks
  the lists that the contract describes in another way
"""
