"""Rules of faults, drawn from a seed: the same every time, independent of other traffic."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Generic, TypeVar


@dataclass(frozen=True)
class Rule:
    """The kind of a fault, the pattern of its paths, and how often it happens; see `vetl_sandbox.faults.Fault`."""

    kind: str
    path: str = "*"
    share: float = 1.0
    most: int | None = None
    in_a_row: int | None = None


RuleT = TypeVar("RuleT", bound=Rule)


@dataclass
class Strikes(Generic[RuleT]):
    """The rules in force, and how often each has hit."""

    rules: tuple[RuleT, ...] = ()
    seed: int = 1
    hits: Counter[str] = field(default_factory=Counter)
    _of_rule: Counter[int] = field(default_factory=Counter)
    _of_event: Counter[tuple[int, str]] = field(default_factory=Counter)
    _seen: Counter[str] = field(default_factory=Counter)

    def set(self, rules: Iterable[RuleT], seed: int | None = None) -> None:
        """Replace the rules and forget all hits."""
        self.rules, self.seed = tuple(rules), self.seed if seed is None else seed
        for counter in (self.hits, self._of_rule, self._of_event, self._seen):
            counter.clear()

    def strike(self, path: str, event: str, /) -> RuleT | None:
        """Return the first rule that hits this event, if any does.

        `event` names it in full. The result follows from the seed, the name and how often it came before, not from
        other traffic at the same time.
        """
        if not self.rules:
            return None
        self._seen[event] += 1
        for place, rule in enumerate(self.rules):
            if fnmatchcase(path, rule.path) and self._hits(place, rule, event):
                self._of_rule[place] += 1
                self._of_event[place, event] += 1
                self.hits[rule.kind] += 1
                return rule
        return None

    def as_json(self) -> dict[str, Any]:
        """Return the rules and hits as the control interface shows them."""
        return {"seed": self.seed, "rules": [vars(rule) for rule in self.rules], "hits": self.hits}

    def _hits(self, place: int, rule: RuleT, event: str) -> bool:
        if rule.most is not None and self._of_rule[place] >= rule.most:
            return False
        if rule.in_a_row is not None and self._of_event[place, event] >= rule.in_a_row:
            return False
        drawn = hashlib.blake2b(f"{self.seed}/{place}/{self._seen[event]}/{event}".encode(), digest_size=8)
        return int.from_bytes(drawn.digest()) / 2**64 < rule.share
