"""Sending the acts of one practice in turn, whatever their kind."""

from collections.abc import Awaitable, Callable, Iterable

from vetl.addons.act.acts import Act, HeldBack
from vetl.addons.act.ledger import Ledger
from vetl.addons.act.platform import ActPlatform, ApplyResult
from vetl.core.errors import (
    ContractBroken,
    PracticeRefused,
    RateLimited,
    SignInRefused,
    TokenRejected,
    Transient,
)

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
        except (PracticeRefused, RateLimited, TokenRejected, SignInRefused) as error:
            # It would refuse the other acts too. Whether this one was made nevertheless, a read decides.
            ledger.unknown([act], platform.clock(), str(error))
            result.failures.append(f"{act.practice_id}: nothing more is sent: {error}")
            return False
        except (Transient, ContractBroken) as error:
            ledger.unknown([act], platform.clock(), str(error))
            silent += 1
    return True
