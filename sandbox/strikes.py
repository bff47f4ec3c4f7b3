"""Rules for what goes wrong, drawn from a seed: the same each time, whatever else goes on beside it."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Generic, Protocol, TypeVar


class Rule(Protocol):
    """What goes wrong (`kind`), where (a pattern of paths), and how often; see `sandbox.faults.Fault`."""

    @property
    def kind(self) -> str: ...  # noqa: D102 - see the class
    @property
    def path(self) -> str: ...  # noqa: D102 - see the class
    @property
    def share(self) -> float: ...  # noqa: D102 - see the class
    @property
    def most(self) -> int | None: ...  # noqa: D102 - see the class
    @property
    def in_a_row(self) -> int | None: ...  # noqa: D102 - see the class


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
        """Replace the rules and forget what has happened."""
        self.rules, self.seed = tuple(rules), self.seed if seed is None else seed
        for counter in (self.hits, self._of_rule, self._of_event, self._seen):
            counter.clear()

    def strike(self, path: str, event: str, /) -> RuleT | None:
        """The rule that this event meets, if any: the first that hits.

        `event` names it in full. What it meets follows from the seed, its name and how often it came before,
        not from what else goes on at the same time.
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
        """What the control interface tells."""
        return {"seed": self.seed, "rules": [vars(rule) for rule in self.rules], "hits": self.hits}

    def _hits(self, place: int, rule: RuleT, event: str) -> bool:
        if rule.most is not None and self._of_rule[place] >= rule.most:
            return False
        if rule.in_a_row is not None and self._of_event[place, event] >= rule.in_a_row:
            return False
        drawn = hashlib.blake2b(f"{self.seed}/{place}/{self._seen[event]}/{event}".encode(), digest_size=8)
        return int.from_bytes(drawn.digest()) / 2**64 < rule.share
