"""The outside of applying: the platform, sending acts of any kind in turn, and what came of it."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from vetl.addons.act.acts import Act, HeldBack
from vetl.addons.act.ledger import Ledger
from vetl.addons.act.sighting import TasksRead
from vetl.core import errors
from vetl.partner.practice import PartnerPractice


@dataclass(frozen=True, slots=True)
class ActPlatform:
    """The parts of the outside that applying needs.

    `desk` writes for a practice, `read_tasks` reads all its tasks. `clock` is the platform's time. `obstacle` says
    why nothing may be sent at all, such as the kill switch.
    """

    desk: Callable[[str], PartnerPractice]
    read_tasks: Callable[[str], Awaitable[TasksRead]]
    clock: Callable[[], datetime]
    obstacle: Callable[[], str | None] = lambda: None


@dataclass(slots=True)
class ApplyResult:
    """The result of applying a plan. `failures` and `doubts` are one line each."""

    sent: int = 0
    adopted: int = 0
    canceled: int = 0
    unknown: int = 0
    held_back: list[HeldBack] = field(default_factory=list[HeldBack])
    failures: list[str] = field(default_factory=list[str])
    doubts: list[str] = field(default_factory=list[str])

    @property
    def exit_code(self) -> int:
        """Return 1 if a request was refused, 3 if something is unknown or uncertified, else 0."""
        if self.failures:
            return 1
        return 3 if self.unknown or self.doubts else 0


SILENT = 5
"""Requests in a row without an answer, after which a practice gets no more of them in this run."""


async def send_in_turn(
    acts: Iterable[Act],
    reason_to_hold: Callable[[Act], str | None],
    send: Callable[[Act], Awaitable[None]],
    ledger: Ledger,
    platform: ActPlatform,
    result: ApplyResult,
) -> bool:
    """Send each act that nothing holds back. Return `False` if the platform refused the practice.

    An act whose answer does not come is unknown in the ledger.

    Raises:
        LedgerError: the ledger cannot be written; nothing more is sent.
    """
    silent = 0
    ledger.check_room()
    for act in acts:
        reason = reason_to_hold(act) or ("platform_silent" if silent >= SILENT else None)
        if reason:
            result.held_back.append(HeldBack(act.practice_id, act.episode_id, reason))
            continue
        try:
            await send(act)
            silent = 0
        except (errors.PracticeRefused, errors.RateLimited, errors.TokenRejected, errors.SignInRefused) as error:
            # It would refuse the other acts too. Whether this one was made nevertheless, a read decides.
            ledger.unknown([act], platform.clock(), str(error))
            result.failures.append(f"{act.practice_id}: nothing more is sent: {error}")
            return False
        except (errors.Transient, errors.ContractBroken) as error:
            ledger.unknown([act], platform.clock(), str(error))
            silent += 1
    return True
