"""Choose names on a list that is too short to prove any, if the server refuses names that it does not know.

A refused name would fail every read. An accepted name is not proven, so it is checked again when the list has
grown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from vetl.core.steps import Plan
from vetl.discovery.parameter_names import DATE_RANGE_NAMES, PAGE_NAMES, SIZE_NAMES, STATUS_NAMES
from vetl.discovery.probes import ListKnowledge, candidates, refusal_of, whole_bounds

NAMES: Mapping[str, Sequence[str]] = {
    "end": [end for _, end in DATE_RANGE_NAMES],
    "per_page": SIZE_NAMES,
    "page": ("page", *PAGE_NAMES),
    "status": STATUS_NAMES,
}


def choose_accepted_names(
    knowledge: ListKnowledge, unproven: Sequence[str], statuses: Sequence[str]
) -> Plan[None]:
    """Replace refused names by accepted ones. One request, if the server accepts all unproven names."""
    trials = {key: values for key, values in _values(knowledge, statuses).items() if key in unproven and values}
    query = {getattr(knowledge.names, key): values[0] for key, values in trials.items()}
    if not trials or (yield from refusal_of(knowledge, {**knowledge.whole, **query})) is None:
        return
    for key, values in trials.items():
        for name in candidates((getattr(knowledge.names, key),), NAMES[key]):
            if (yield from _is_accepted(knowledge, name, values)):
                knowledge.names = replace(knowledge.names, **{key: name})
                break


def _values(knowledge: ListKnowledge, statuses: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return trial values of each parameter. A server may refuse page 1 as beyond the end, page 0 as too low."""
    _, late = whole_bounds(knowledge.reading, knowledge.bounds)
    end = (late,) if knowledge.whole else ()
    return {"end": end, "per_page": ("1",), "page": ("1", "0"), "status": statuses[:1]}


def _is_accepted(knowledge: ListKnowledge, name: str, values: Sequence[str]) -> Plan[bool]:
    for value in values:
        if (yield from refusal_of(knowledge, {**knowledge.whole, name: value})) is None:
            return True
    return False
