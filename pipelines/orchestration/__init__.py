"""Dagster: a thin shell over `jobs`. The only importer of dagster, beside `definitions`."""
