"""Find by requests the facts that the contract does not show: parameter names, page numbers, bounds, time zones.

Checks are pure generators of `vetl.core.steps`, like strategies. A check sends two requests with two
contrasting values and believes a parameter only if the two answers differ as they should. All requests are reads.

- `examination`     selects the checks of a list and returns the capabilities to store
- `first_look`      decides all parameters of an unknown list at once, if the server behaves as configured
- `ranges`, `page_parameters`, `row_checks`, `identity`  check one subject each
- `parameter_names` has the names to try, and selects names on lists that are too short to prove any
- `calls_and_people`, `time_zone`  check the lists that the contract describes in another way
- `probes`          sends the requests, holds the knowledge of a list, and has the findings for `vetl doctor`
- `capability_store`, `conventions`  are the other results: for the store and for `reading`
"""
