"""The base of the platform's parts: the world, the time, the switches and the tables."""

from datetime import datetime
from threading import RLock
from typing import Protocol

from sandbox.agenda import Agenda
from sandbox.directory import Directory
from sandbox.switches import Switches
from sandbox.table import Table
from sandbox.world import World


class Ground(Protocol):
    """The part of `sandbox.platform.Platform` that its own parts may use."""

    world: World
    switches: Switches
    agenda: Agenda
    lock: RLock

    def now(self) -> datetime:
        """Return the platform's time."""
        ...

    def table(self, practice_id: str, name: str) -> Table:
        """Return one list of one practice."""
        ...

    def directory(self, practice_id: str) -> Directory:
        """Return the people of a practice."""
        ...
