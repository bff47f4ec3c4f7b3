"""vetl: sync a veterinary practice platform's API into DuckDB, verify completeness.

The packages, in the direction that data flows; each imports only packages above it (`tests/test_architecture.py`):

- `core`           the vocabulary: errors, endpoints, records, pages, steps, results; no I/O
- `settings`       the only reader of the environment and of `vetl.toml`
- `partner`        the partner interface over HTTP; does not know the warehouse
- `discovery`      finds out how a server behaves: parameter names, page base, bounds, sort order, time zone
- `reading`        reads each kind of list until it is proven whole; generators of `core.steps`, no I/O
- `endpoints`      a declaration of each list; the registry, with the lists that only webhooks bring
- `store`          the private file: records into DuckDB, history, control tables
- `publishing`     the published file: masks, digests, one rename, and the only way to read it
- `figures`        questions to the published file: metrics, their rows, what changed
- `engine`         the sync loop, the runner of steps, the writer
- `receiving`      the webhook receiver and its inbox
- `jobs`           shared by the commands and Dagster: sync, build, doctor, drain, quarantine
- `notices`        mail and webhooks, for alerts and for addons
- `forgetting`     removes a person from every file, and searches all of them for values that are left
- `cli`, `orchestration`   thin shells for the terminal and for Dagster
- `addons`         features that the core does not know, found by `hooks`
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a class of Dagster, which is an extra
    """Return Dagster's component `vetl.VetlSync`; nothing else imports Dagster with this package."""
    if name != "VetlSync":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("vetl.orchestration.location").VetlSync


def __dir__() -> list[str]:
    return [*globals(), "VetlSync"]
