"""vetl: a veterinary practice platform's lists into DuckDB, provably whole.

Where to look:

- `settings`       the only reader of the environment and of `vetl.toml`
- `errors`         every error vetl raises, by cause and by reaction
- `endpoint`       what a synced list is; `endpoints/` declares each in one short file
- `strategies/`    how a list is read without loss: pure generators of `steps`
- `partner/`       the partner interface over HTTP; knows no warehouse
- `loading/`       records into DuckDB and out to the published file
- `sync`           the loop that performs what a strategy asks for
- `orchestration/` and `cli`: thin shells for Dagster and for the terminal
"""
