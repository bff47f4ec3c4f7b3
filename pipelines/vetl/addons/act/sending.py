"""The outside of applying: the platform, sending acts of any kind in turn, and what came of it.

Of messages, a `reference_id` makes each safe to repeat, and no list has to be read.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from vetl.addons.act.acts import Act, HeldBack, codes_of
from vetl.addons.act.ledger import Ledger
from vetl.addons.act.planning import ActPlan
from vetl.addons.act.sighting import SeenTask, Sighting, TasksRead
from vetl.core import errors
from vetl.core.errors import NotSent, RequestRefused, VetlError
from vetl.partner.practice import PartnerPractice
from vetl.partner.request_models import NewMessage, Recipient


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
    def counts(self) -> dict[str, int]:
        """Return the numbers of acts."""
        counts = {"sent": self.sent, "adopted": self.adopted, "canceled": self.canceled, "unknown": self.unknown}
        return {**counts, "held_back": len(self.held_back)}

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

    Raise `LedgerError` if the ledger cannot be written; nothing more is sent.
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


@dataclass
class Texter:
    """Sends the messages of one practice. `obstacle` says why none of a kind may leave now."""

    _ledger: Ledger
    _platform: ActPlatform
    _result: ApplyResult
    _practice_id: str
    _obstacle: Callable[[str, str], str | None]

    @property
    def _desk(self) -> PartnerPractice:
        return self._platform.desk(self._practice_id)

    async def text(self, unknown: Sequence[Act], due: Sequence[Act], plan: ActPlan) -> None:
        """Look for the messages whose answer did not come, then send those of the plan that still fit the data."""
        due = [*due, *[act for act in unknown if await self._was_not_sent(act)]]
        fitting = {act.code: act for act in plan.acts if act.practice_id == self._practice_id}
        reasons = {
            item.episode_id: item.reason for item in plan.held_back if item.practice_id == self._practice_id
        }

        def reason_to_hold(act: Act) -> str | None:
            reason = None if fitting.get(act.code) == act else reasons.get(act.episode_id, "no_longer_fits")
            # The plan was made before the look, so an act that was unknown then may be known now.
            return self._obstacle(act.practice_id, act.kind) if reason in (None, "unknown") else reason

        await send_in_turn(due, reason_to_hold, self._send, self._ledger, self._platform, self._result)

    async def _was_not_sent(self, act: Act) -> bool:
        """Look for a message whose answer did not come. Return whether the platform has none."""
        try:
            was_found = await self._find(act, [act.code])
        except VetlError as error:
            self._result.doubts.append(f"{act.practice_id}: it is not known whether a message was sent: {error}")
            return False
        if not was_found:
            self._ledger.not_made([act], "not sent, as the platform says")
        return not was_found

    async def _find(self, act: Act, codes: Sequence[str]) -> bool:
        for code in codes:
            if message := await self._desk.message(reference_of(code)):
                task = SeenTask(message.id, message.status, (), None, "")
                self._ledger.found(act, Sighting(act.code, task, "reference"), self._platform.clock())
                self._result.adopted += 1
                return True
        return False

    async def _send(self, act: Act) -> None:
        others = codes_of(act.practice_id, act.kind, act.contacts) - {act.code}
        try:
            if others and await self._find(act, sorted(others)):
                return  # the request was two when its message was sent
            self._ledger.asking(act, self._platform.clock())
            sent = await self._desk.send_message(
                NewMessage(
                    recipient=Recipient(client_id=act.client_id, phone_number=act.phone_number),
                    fallback_text=act.description,
                    reference_id=reference_of(act.code),
                )
            )
        except RequestRefused as error:
            if isinstance(error, NotSent) or not await self._find(act, [act.code]):
                self._refused(act, error)
            return
        if sent.message.status == "suppressed":
            self._ledger.refused(act, f"not sent: {sent.message.status_reason or 'suppressed'}")
            self._result.held_back.append(HeldBack(act.practice_id, act.episode_id, "suppressed"))
            return
        self._ledger.answered(act, sent.message.id, "")
        if sent.new:
            self._result.sent += 1
        else:
            self._result.adopted += 1

    def _refused(self, act: Act, error: RequestRefused) -> None:
        """A problem without a field is that of the sending hours: nothing is wrong with the message."""
        if any(field is None for field, _ in error.fields):
            self._ledger.not_made([act], str(error))
            self._result.held_back.append(HeldBack(act.practice_id, act.episode_id, "quiet_hours"))
            return
        self._ledger.refused(act, str(error))
        self._result.failures.append(f"{act.practice_id}: a message was refused: {error}")


def reference_of(code: str) -> str:
    """Return the `reference_id` of a message."""
    return f"vetl-{code}"
