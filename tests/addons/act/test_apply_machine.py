"""Acting as a state machine: a platform that makes tasks late or never, or lies, and appliers that are killed.

The model platform knows which task came from which booking request, so it is the oracle: none ever has two tasks,
and at rest each has one.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from support.examples import examples
from vetl.addons.act.acts import OPEN, ActState, BookingRequest
from vetl.addons.act.applying import Applier
from vetl.addons.act.ledger import Ledger
from vetl.addons.act.planning import ActFacts, make_plan
from vetl.addons.act.sending import ActPlatform, ApplyResult
from vetl.addons.act.settings import TEMPLATE_FIELDS, ActSettings
from vetl.addons.act.sighting import TasksRead, task_of
from vetl.core.errors import PracticeRefused, RequestRefused, Unreachable
from vetl.partner.models import StaffTask
from vetl.partner.practice import PartnerPractice
from vetl.partner.request_models import NewStaffTask, StaffTaskChanges

SETTLE = timedelta(minutes=15)
ENDS = (
    *("answer", "lost", "failed", "late", "refused", "forbidden", "killed before", "killed after"),
    *("made and refused", "made and forbidden"),
)
LATEST = timedelta(minutes=14)
"""How late a task may appear: a little less than the time to settle."""
troubles = st.lists(st.sampled_from(ENDS), max_size=6)
certainties = st.sampled_from([True, True, True, False])


class KilledError(BaseException):
    """The applier ends here, as by SIGKILL."""


@dataclass
class ModelTask:
    """A task, and when it becomes visible."""

    fields: dict[str, object]
    visible_at: datetime


@dataclass
class ModelDesk:
    """The platform of one practice. `ends` says how the next requests end."""

    now: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)
    tasks: list[ModelTask] = field(default_factory=list[ModelTask])
    ends: list[str] = field(default_factory=list[str])
    certified: bool = True
    reference_times: list[datetime] = field(default_factory=list[datetime])

    async def create_staff_task(self, task: NewStaffTask) -> StaffTask:
        """Make a task, or not, and answer, or not."""
        self.now += timedelta(seconds=1)
        end = self.ends.pop() if self.ends else "answer"
        match end:
            case "failed":
                raise Unreachable("503")
            case "refused":
                raise RequestRefused("400", status=400)
            case "forbidden":
                raise PracticeRefused("403", status=403)
            case "killed before":
                raise KilledError
            case _:
                pass
        made = self._made(task, LATEST if end == "late" else timedelta())
        if end in ("lost", "late"):
            raise Unreachable("cut off")
        if end == "made and refused":
            raise RequestRefused("409", status=409)
        if end == "made and forbidden":
            raise PracticeRefused("401", status=401)
        if end == "killed after":
            raise KilledError
        return made

    async def update_staff_task(self, task_id: str, changes: StaffTaskChanges) -> StaffTask:
        task = next(item for item in self.tasks if item.fields["id"] == task_id)
        task.fields["status"] = changes.status
        return StaffTask.model_validate(task.fields)

    async def read_tasks(self, practice_id: str) -> TasksRead:
        self.now += timedelta(seconds=1)
        seen = tuple(task_of(task.fields) for task in self.tasks if task.visible_at <= self.now)
        shown = seen if self.certified else seen[::2]
        return TasksRead(practice_id, self.certified, "model", self.now, shown)

    def _made(self, task: NewStaffTask, late: timedelta) -> StaffTask:
        fields: dict[str, object] = {**task.model_dump(), "id": f"t-{len(self.tasks)}", "status": "pending"}
        self.reference_times.append(task.reference_time_at or self.now)
        self.tasks.append(ModelTask(fields, self.now + late))
        return StaffTask.model_validate(fields)


class Acting(RuleBasedStateMachine):
    """Booking requests come and are booked, plans are made and applied, and anything may fail."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.desk = ModelDesk()
        self.requests: dict[int, BookingRequest] = {}
        self.booked: set[int] = set()
        self.digest = ""

    def teardown(self) -> None:
        """Bring the platform to rest: then each unbooked request has one task, unless it was refused."""
        self.desk.ends, self.desk.certified = [], True
        for _ in range(3):
            self.desk.now += SETTLE + timedelta(minutes=1)
            self.apply()
            self.no_request_has_two_tasks()
        with self.ledger() as ledger:
            refused = {entry.act.episode_id for entry in ledger.entries() if entry.state is ActState.REFUSED}
            assert not [entry for entry in ledger.entries() if entry.state in OPEN]
        assert self.exit_code == 0
        waiting = [request for number, request in self.requests.items() if number not in self.booked]
        served = self.made_for()
        assert {request.episode_id for request in waiting} - refused <= served.keys()
        self.folder.cleanup()

    @initialize(count=st.integers(1, 5))
    def begin(self, count: int) -> None:
        for _ in range(count):
            self.request()

    @rule()
    def request(self) -> None:
        number = len(self.requests)
        contacts = (f"call:c-{number}",)
        last_at = datetime(2026, 2, 1, tzinfo=UTC) + timedelta(minutes=number)
        fields: dict[str, str] = dict.fromkeys(TEMPLATE_FIELDS, "text")
        self.requests[number] = BookingRequest("p", contacts[0], contacts, "ann", None, last_at, number, fields)

    @rule(pick=st.integers(0, 40))
    def book(self, pick: int) -> None:
        self.booked.add(pick % len(self.requests))

    @rule(minutes=st.integers(0, 40))
    def wait(self, minutes: int) -> None:
        self.desk.now += timedelta(minutes=minutes)

    @rule(pick=st.integers(0, 40), words=st.sampled_from(["title", "description"]))
    def edit(self, pick: int, words: str) -> None:
        """A person rewrites a task: its code may be gone, its reference time stays."""
        if self.desk.tasks:
            self.desk.tasks[pick % len(self.desk.tasks)].fields[words] = "Ann does it"

    @rule(pick=st.integers(0, 40), status=st.sampled_from(["completed", "canceled", "pending"]))
    def work(self, pick: int, status: str) -> None:
        if self.desk.tasks:
            self.desk.tasks[pick % len(self.desk.tasks)].fields["status"] = status

    @rule()
    def lose_the_ledger(self) -> None:
        """Only once no request is open. A task whose code is gone is known by its time, if it is planned again."""
        is_late = any(task.visible_at > self.desk.now for task in self.desk.tasks)
        if not is_late:
            for file in Path(self.folder.name).iterdir():
                file.unlink()
            self.digest = ""

    @rule(ends=troubles, certified=certainties)
    def apply_the_same(self, ends: list[str], certified: bool) -> None:  # noqa: FBT001 - drawn
        self.desk.ends, self.desk.certified = ends, certified
        self.run(self.digest)

    @rule(ends=troubles, certified=certainties)
    def apply_another(self, ends: list[str], certified: bool) -> None:  # noqa: FBT001 - drawn
        self.desk.ends, self.desk.certified = ends, certified
        self.apply()

    def apply(self) -> None:
        rules, requests, facts = self.inputs()
        with self.ledger() as ledger:
            self.exit_code = 0
            plan = make_plan(requests, rules, facts_with(facts, ledger))
            self.digest = plan.digest
            ledger.save_plan(plan.digest, None, self.desk.now)
            ledger.approve(plan, rules, "ann", self.desk.now)
        self.run(self.digest)

    def run(self, digest: str) -> None:
        rules, requests, facts = self.inputs()
        desk = cast(PartnerPractice, self.desk)
        platform = ActPlatform(lambda _: desk, self.desk.read_tasks, lambda: self.desk.now)
        with self.ledger() as ledger:
            applier = Applier(ledger, platform, rules, {"p": "UTC"}, requests, facts_with(facts, ledger), digest)
            try:
                result = asyncio.run(applier.apply())
            except KilledError:
                result = ApplyResult(unknown=1)
            self.exit_code = result.exit_code

    def inputs(self) -> tuple[ActSettings, list[BookingRequest], ActFacts]:
        """Return the rules, the booking requests that are not booked, and the contacts that are."""
        rules = ActSettings(practices=("p",), per_practice_per_day=1000, per_day=1000)
        waiting = [request for number, request in self.requests.items() if number not in self.booked]
        booked = frozenset(("p", self.requests[number].episode_id) for number in self.booked)
        return rules, waiting, ActFacts(booked=booked)

    def ledger(self) -> Ledger:
        return Ledger.open(Path(self.folder.name) / "acts.sqlite")

    def made_for(self) -> Counter[str]:
        """Return how many tasks the platform has made for each booking request, by its reference time."""
        rules, _, _ = self.inputs()
        plan = make_plan(self.requests.values(), rules, ActFacts())
        requests = {act.reference_time_at: act.episode_id for act in plan.acts}
        return Counter(requests[at] for at in self.desk.reference_times)

    @invariant()
    def no_request_has_two_tasks(self) -> None:
        assert all(times == 1 for times in self.made_for().values())


def facts_with(facts: ActFacts, ledger: Ledger) -> ActFacts:
    return ActFacts(entries=ledger.entries(), booked=facts.booked)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("certified", [True, False])
def test_a_request_that_ends_badly_is_not_sent_again_at_once(end: str, certified: bool) -> None:  # noqa: FBT001
    machine = Acting()
    machine.begin(3)
    machine.apply_another([end], certified=True)
    machine.apply_the_same([end], certified=certified)
    machine.apply_another([], certified=certified)

    machine.no_request_has_two_tasks()
    machine.teardown()


TestActing = Acting.TestCase
TestActing.settings = settings(stateful_step_count=10, max_examples=examples(15))
