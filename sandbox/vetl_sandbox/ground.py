"""The base of the platform's parts: the world, the time, the switches and the tables."""

from datetime import datetime
from threading import RLock
from typing import Protocol

from vetl_sandbox.agenda import Agenda
from vetl_sandbox.directory import Directory
from vetl_sandbox.switches import Switches
from vetl_sandbox.table import Table
from vetl_sandbox.world import World


class Ground(Protocol):
    """The part of `vetl_sandbox.platform.Platform` that its own parts may use."""

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
