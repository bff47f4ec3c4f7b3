"""What the contract leaves open, found out by asking: `vetl doctor`.

Checks are pure generators of `pipelines.core.steps`, like strategies: they ask the same list twice with two
contrasting values, and believe a parameter only where the two answers differ as they should. All are reads.

- `examination`  which checks a list gets, and what of it is kept as capabilities
- `ranges`, `edges`, `sizes`, `numbers`, `statuses`, `contents`  one subject each
- `taking`       names on lists that are too short to prove any
- `calls`, `time_zone`, `people`  the lists that the contract describes in another way
- `job`          settings, client and warehouse around it; `mending` writes what was found into `vetl.toml`
"""
