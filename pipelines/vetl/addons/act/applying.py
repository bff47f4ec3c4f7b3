"""Applying a plan, exactly once although the interface has no idempotency keys (docs/decisions/0050-acting.md).

The order for each practice: read all its tasks; take in those that are vetl's; hold open acts against the read;
cancel tasks whose client has booked; send; read again. An act is in the ledger before its request leaves. Unless
its answer is the task, a read decides: it shows the task, or proves that there is none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from vetl.addons.act import acts
from vetl.addons.act.ledger import Ledger
from vetl.addons.act.planning import ActFacts, ActPlan, is_quiet, made_today, make_plan
from vetl.addons.act.sending import ActPlatform, ApplyResult, Texter, send_in_turn
from vetl.addons.act.settings import ActSettings
from vetl.addons.act.sighting import Sightings, TasksRead, compare, task_of
from vetl.core.errors import RequestRefused, VetlError
from vetl.partner.request_models import NewStaffTask, StaffTaskChanges


@dataclass
class Applier:
    """Applies one plan. `digest` names it in the ledger, which has its acts already; `zones` are by practice."""

    _ledger: Ledger
    _platform: ActPlatform
    _rules: ActSettings
    _zones: Mapping[str, str]
    _requests: Sequence[acts.BookingRequest]
    _facts: ActFacts
    _digest: str
    _asked: dict[str, str] = field(default_factory=dict[str, str])
    """The codes of the requests that left, with the reason if the platform refused."""
    result: ApplyResult = field(default_factory=ApplyResult)

    @property
    def _settle(self) -> timedelta:
        return timedelta(minutes=self._rules.settle_minutes)

    async def apply(self) -> ApplyResult:
        """Apply the plan to each practice that it concerns. A practice that fails does not stop the others.

        Raise `LedgerError` if the ledger cannot be written. No request leaves that it does not hold.
        """
        # An applier that was killed held the lock, so none of its requests can leave after now.
        asking = [entry.act for entry in self._ledger.entries() if entry.state is acts.ActState.ASKING]
        self._ledger.unknown(asking, self._platform.clock(), acts.OUTCOME_IS_OPEN)
        for practice_id in self._practices():
            await self._messages(practice_id)
            cancels = any(act.practice_id == practice_id for act in self._plan().cancellations)
            # Open acts are looked for even if nothing may be sent now.
            if cancels or any(map(self._is_work, self._own(practice_id))):
                await self._tasks(practice_id)
        self.result.unknown = sum(entry.state in acts.OPEN for entry in self._ledger.entries())
        return self.result

    def _practices(self) -> list[str]:
        """Return the practices with work: acts of this plan, open acts, or tasks to be canceled."""
        concerned = {entry.act.practice_id for entry in self._ledger.entries() if self._is_work(entry)}
        concerned |= {act.practice_id for act in self._plan().cancellations}
        return sorted(concerned & set(self._zones))

    def _is_due(self, entry: acts.LedgerEntry) -> bool:
        return entry.state is acts.ActState.PLANNED and entry.plan == self._digest

    def _is_work(self, entry: acts.LedgerEntry) -> bool:
        return self._is_due(entry) or entry.state in acts.OPEN

    def _plan(self) -> ActPlan:
        entries = self._ledger.entries()
        counts = made_today(entries, self._zones, self._platform.clock())
        return make_plan(self._requests, self._rules, replace(self._facts, entries=entries, made_today=counts))

    async def _messages(self, practice_id: str) -> None:
        entries = self._own(practice_id, messages=True)
        if any(map(self._is_work, entries)):
            await Texter(self._ledger, self._platform, self.result, practice_id, self._obstacle).text(
                [entry.act for entry in entries if entry.state in acts.OPEN],
                [entry.act for entry in entries if self._is_due(entry)],
                self._plan(),
            )

    async def _tasks(self, practice_id: str) -> None:
        obstacle = self._obstacle(practice_id)
        if obstacle and not self._has_open(practice_id):
            self._hold_rest(practice_id, obstacle)
            return
        read = await self._look(practice_id)
        if read is None:
            self._hold_rest(practice_id, "tasks_unread")
        elif not read.certified:
            self._hold_rest(practice_id, "tasks_uncertified")
        elif not self._is_settled(practice_id, read):
            self._hold_rest(practice_id, "settling")
        else:
            await self._cancel(practice_id, read)
            await self._send(practice_id)
            if self._asked or self._has_open(practice_id):
                await self._look_after(practice_id)

    def _has_open(self, practice_id: str) -> bool:
        return any(entry.state in acts.OPEN for entry in self._own(practice_id))

    def _obstacle(self, practice_id: str, kind: str = "call_back") -> str | None:
        is_now = is_quiet(self._rules, kind, self._platform.clock(), self._zones[practice_id])
        return self._platform.obstacle() or ("quiet_hours" if is_now else None)

    async def _look_after(self, practice_id: str) -> None:
        """Look for lost answers, refused tasks that were made nevertheless, and tasks that stand twice."""
        await self._look(practice_id, "what came of its requests is not proven")
        refused = {entry.act.code for entry in self._own(practice_id) if entry.state is acts.ActState.REFUSED}
        self.result.failures += [
            f"{practice_id}: a task was refused: {why}" for code, why in self._asked.items() if code in refused
        ]
        self._asked.clear()

    async def _look(self, practice_id: str, so: str = "nothing is sent") -> TasksRead | None:
        """Read the tasks of a practice and take in those that are vetl's, also if the read is not certified."""
        try:
            read = await self._platform.read_tasks(practice_id)
        except VetlError as error:
            self.result.doubts.append(f"{practice_id}: {so}, its tasks cannot be read: {error}")
            return None
        if not read.certified:
            self.result.doubts.append(f"{practice_id}: {so}, its tasks are not certified: {read.reason}")
        self._take_in(read, compare(self._own(practice_id), read, self._settle))
        return read

    def _take_in(self, read: TasksRead, seen: Sightings) -> None:
        practice_id, now = read.practice_id, self._platform.clock()
        entries = {entry.act.code: entry for entry in self._own(practice_id)}
        for sighting in seen.found:
            self._ledger.found(entries[sighting.code].act, sighting, now)
        if seen.strangers:
            self._ledger.adopt(practice_id, acts.CALL_BACK.name, seen.strangers, now)
        self.result.adopted += len(seen.found) + len(seen.strangers)
        if seen.strangers or any(entries[sighting.code].state in acts.UNASKED for sighting in seen.found):
            # A request that a lost ledger knew may still be under way.
            self._ledger.settle(practice_id, now)
        if seen.absent:
            absent = [entries[code].act for code in seen.absent]
            self._ledger.not_made(
                absent, f"not made, by a read at {read.started:%Y-%m-%d %H:%M} UTC: {read.reason}"
            )
        doubles = [
            f"{practice_id}: {count} tasks have the code {code}; a person has to cancel all but one"
            for code, count in seen.twice
        ]
        self.result.doubts += [line for line in doubles if line not in self.result.doubts]

    def _own(self, practice_id: str, *, messages: bool = False) -> list[acts.LedgerEntry]:
        """Return the acts of a practice that are staff tasks, or those that are messages."""
        entries = [entry for entry in self._ledger.entries() if entry.act.practice_id == practice_id]
        return [entry for entry in entries if acts.is_message(entry.act.kind) == messages]

    def _is_settled(self, practice_id: str, read: TasksRead) -> bool:
        """Return whether the ledger knows every request that may have left before it was lost."""
        since = self._ledger.settling_since(practice_id)
        if since is None:
            return True
        if read.started < since + self._settle:
            ready = f"{since + self._settle:%Y-%m-%d %H:%M} UTC"
            self.result.doubts.append(
                f"{practice_id}: the ledger did not know all tasks of vetl; nothing is sent before {ready}"
            )
            return False
        self._ledger.settled(practice_id)
        return True

    async def _cancel(self, practice_id: str, read: TasksRead) -> None:
        """Cancel the tasks whose client has booked, if no person has worked with them."""
        tasks = {task.id: task for task in read.tasks}
        entries = {entry.act.code: entry for entry in self._own(practice_id)}
        wanted = [act for act in self._plan().cancellations if act.practice_id == practice_id]
        for act in wanted:
            entry = entries[act.code]
            task = tasks.get(entry.task_id or "")
            if entry.state is acts.ActState.CANCELING and (task is None or task.status == "canceled"):
                self._ledger.ended(act, acts.ActState.CANCELED, "booked meanwhile")
            elif task is None or task.status != "pending" or task.digest != entry.seen:
                self._ledger.ended(act, acts.ActState.LEFT, "booked meanwhile; a person has worked with the task")
            elif not self._obstacle(practice_id):
                await self._cancel_one(act, task.id)

    async def _cancel_one(self, act: acts.Act, task_id: str) -> None:
        self._ledger.canceling(act)
        try:
            await self._platform.desk(act.practice_id).update_staff_task(
                task_id, StaffTaskChanges(status="canceled")
            )
        except VetlError as error:
            self.result.doubts.append(f"{act.practice_id}: a task could not be canceled: {error}")
            return
        self._ledger.ended(act, acts.ActState.CANCELED, "booked meanwhile")
        self.result.canceled += 1

    async def _send(self, practice_id: str) -> None:
        """Send the acts of the plan that still fit the data, the most urgent first."""
        plan = self._plan()
        reasons = {(item.practice_id, item.episode_id): item.reason for item in plan.held_back}
        fitting = {act.code: act for act in plan.acts if act.practice_id == practice_id}
        due = [entry.act for entry in self._own(practice_id) if self._is_due(entry)]
        order = {code: place for place, code in enumerate(fitting)}

        def reason_to_hold(act: acts.Act) -> str | None:
            if fitting.get(act.code) != act:
                return reasons.get((practice_id, act.episode_id), "no_longer_fits")
            return self._obstacle(practice_id)

        by_urgency = sorted(due, key=lambda act: order.get(act.code, len(order)))
        if not await send_in_turn(
            by_urgency, reason_to_hold, self._send_one, self._ledger, self._platform, self.result
        ):
            self._hold_rest(practice_id, "practice_refused")

    async def _send_one(self, act: acts.Act) -> None:
        self._ledger.asking(act, self._platform.clock())
        self._asked[act.code] = ""
        task = NewStaffTask(
            title=act.title,
            description=act.description,
            task_type=acts.KINDS[act.kind].task_type or "task",
            client_id=act.client_id,
            reference_time_at=act.reference_time_at,
        )
        try:
            made = await self._platform.desk(act.practice_id).create_staff_task(task)
        except RequestRefused as error:
            self._ledger.refused(act, str(error))
            self._asked[act.code] = str(error)
            return
        self._ledger.answered(act, made.id, task_of(made.model_dump()).digest)
        self.result.sent += 1

    def _hold_rest(self, practice_id: str, reason: str) -> None:
        due = [entry.act for entry in self._own(practice_id) if self._is_due(entry)]
        known = {(item.practice_id, item.episode_id) for item in self.result.held_back}
        self.result.held_back += [
            acts.HeldBack(practice_id, act.episode_id, reason)
            for act in due
            if (practice_id, act.episode_id) not in known
        ]
