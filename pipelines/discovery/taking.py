"""Names on a list too short to prove any: those that the server takes, where it refuses names it does not know.

Taken is less than honoured, so it is asked again when the list has grown; but a refused name would end every read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pipelines.core.steps import Plan
from pipelines.discovery.asking import ListKnowledge, candidates, refusal_of, whole_bounds
from pipelines.discovery.parameter_names import DATE_RANGE_NAMES, PAGE_NAMES, SIZE_NAMES, STATUS_NAMES

NAMES: Mapping[str, Sequence[str]] = {
    "end": [end for _, end in DATE_RANGE_NAMES],
    "per_page": SIZE_NAMES,
    "page": ("page", *PAGE_NAMES),
    "status": STATUS_NAMES,
}


def take_names(knowledge: ListKnowledge, unproven: Sequence[str], statuses: Sequence[str]) -> Plan[None]:
    """Exchange unproven names that are refused for others that are not; one request where none is refused."""
    wanted = {key: values for key, values in _values(knowledge, statuses).items() if key in unproven and values}
    together = {getattr(knowledge.names, key): values[0] for key, values in wanted.items()}
    if not wanted or (yield from refusal_of(knowledge, {**knowledge.whole, **together})) is None:
        return
    for key, values in wanted.items():
        for name in candidates((getattr(knowledge.names, key),), NAMES[key]):
            if (yield from _is_taken(knowledge, name, values)):
                knowledge.names = replace(knowledge.names, **{key: name})
                break


def _values(knowledge: ListKnowledge, statuses: Sequence[str]) -> dict[str, Sequence[str]]:
    """What each parameter may be asked with. A page may be refused as beyond the end, or as before the first."""
    _, late = whole_bounds(knowledge.reading, knowledge.bounds)
    end = (late,) if knowledge.whole else ()
    return {"end": end, "per_page": ("1",), "page": ("1", "0"), "status": statuses[:1]}


def _is_taken(knowledge: ListKnowledge, name: str, values: Sequence[str]) -> Plan[bool]:
    for value in values:
        if (yield from refusal_of(knowledge, {**knowledge.whole, name: value})) is None:
            return True
    return False
