"""Dagster's assets, checks, jobs and schedules over `jobs`. Only this package and `definitions` import dagster."""
