"""Dagster: a thin shell over `sync_job` and `jobs`. The only importer of dagster, beside `definitions`."""
