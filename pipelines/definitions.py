"""Dagster's entry point: `dg dev`, or `vetl_definitions(config=...)` in a project of your own."""

from functools import cache

import dagster as dg

from pipelines.orchestration.location import vetl_definitions

__all__ = ["defs", "vetl_definitions"]


@dg.definitions
@cache  # a run asks five times in its process, at half a second of CPU each
def defs() -> dg.Definitions:
    """Everything that vetl offers to Dagster."""
    return vetl_definitions()
