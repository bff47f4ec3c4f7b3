"""Dagster's entry point: `dg dev`, or `vetl_definitions(config=...)` in a project of your own."""

from functools import cache

import dagster as dg

from vetl.orchestration.location import vetl_definitions

__all__ = ["defs", "vetl_definitions"]


@dg.definitions
@cache  # Dagster loads the definitions five times in the process of a run, at half a second of CPU each
def defs() -> dg.Definitions:
    """Return all definitions of vetl."""
    # Assets that are materialized outside of a job wait for each other's lock, too, so one process is enough.
    return dg.Definitions.merge(vetl_definitions(), dg.Definitions(executor=dg.in_process_executor))
