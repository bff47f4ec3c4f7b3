"""A person is forgotten between any two commands, by a forgetting that may be killed or meet a full disk.

All stories begin with the same warehouse and build few of the models; `test_forget.py` forgets with all of them.
After the forgetting is complete, no file that vetl keeps mentions the person, also after any later command, and
whether or not the platform has deleted the person. `VETL_CHAOS_SEEDS` is the number of stories, or a range of
seeds; a failing story prints the line that repeats it.
"""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
import vetl_sandbox
from support import forgetting
from support.examples import seeds
from support.forgetting import PRACTICE
from support.mart_builds import build_marts_untested
from support.sandbox_settings import synced
from support.small_project import few_models
from support.warehouse_with_rows import ask
from vetl.addons.lake.job import run_export
from vetl.core.errors import WarehouseError
from vetl.core.list_read import Reconcile
from vetl.jobs.build import publish_marts
from vetl.jobs.drain import run_drain
from vetl.jobs.quarantined_rows import retry
from vetl.settings import Settings
from vetl.store.person import read_plans

DAYS = 4
PEOPLE = 3
"""The clients about whom webhooks came before a story begins; one of them is forgotten."""


@pytest.fixture(scope="module")
def platform() -> Iterator[vetl_sandbox.Handle]:
    with vetl_sandbox.running(practices=1, days=DAYS, calls=30, seed=11, frozen=True) as handle:
        yield handle


@pytest.fixture(scope="module", autouse=True)
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Build few of the models: those that the contacts and the call-back list are made from."""
    with few_models(tmp_path_factory.mktemp("few-models"), "clients", "call_back_list", "phone_calls"):
        yield


@dataclass
class Story:
    platform: vetl_sandbox.Handle
    settings: Settings
    rng: Random
    person: dict[str, str]

    def sync(self, reconcile: Reconcile = "no") -> None:
        result = synced(self.settings, reconcile=reconcile)
        assert result.exit_code in (0, 3), result

    def reconcile(self) -> None:
        self.sync("recent")

    def reconcile_all(self) -> None:
        self.sync("full")

    def drain(self) -> None:
        forgetting.send_webhooks_about(self.settings, self.person, self.rng)
        run_drain(self.settings, catch_up=False)

    def publish(self) -> None:
        if not self.settings.warehouse.published.exists():
            return
        is_unfinished = bool(read_plans(self.settings.warehouse.path))
        try:
            publish_marts(self.settings.warehouse, self.settings.privacy)
        except WarehouseError as error:  # a forgetting that was killed may have dropped the marts
            if not is_unfinished or "there is no mart to publish" not in str(error):
                raise

    def export(self) -> None:
        run_export(self.settings)

    def retry(self) -> None:
        retry(self.settings, lambda _progress: None)

    def scrub(self) -> None:
        """Delete the client at the platform, and their name in the calls."""
        for call in list(self.platform.truth(PRACTICE, "phone_calls")):
            if call["client_id"] == self.person["id"]:
                self.platform.update(PRACTICE, "phone_calls", call["id"], {"client_name": None, "summary": None})

    def some(self, most: int) -> list[str]:
        """Make some events happen; return their names."""
        commands: list[Callable[[], None]] = [self.sync, self.reconcile, self.reconcile_all, self.drain]
        commands += [self.publish, self.export, self.retry, self.scrub]
        chosen = self.rng.sample(commands, self.rng.randint(0, most))
        for command in chosen:
            command()
        return [command.__name__ for command in chosen]


def calls_here(settings: Settings) -> tuple[int, int]:
    """Return the number of calls of the source that vetl knows, and the number of their keys."""
    [(calls, twice)] = ask(
        settings.warehouse.path,
        "select count(*) filter (where _deleted_at is null), count(*) - count(distinct (call_date, call_key))"
        " from raw.phone_calls",
    )
    return calls, twice


@pytest.fixture(scope="module")
def begun(
    platform: vetl_sandbox.Handle, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[dict[str, str]]]:
    """Return the folder with which all stories begin, built and published, and the clients to choose from."""
    folder, rng = tmp_path_factory.mktemp("begun") / "site", Random(0)
    settings = forgetting.settings_that_keep_everything(platform, folder, DAYS)
    people = [forgetting.client_to_forget(platform, rng) for _ in range(PEOPLE)]
    Story(platform, settings, rng, people[0]).sync()
    for person in people:
        Story(platform, settings, rng, person).drain()
    build_marts_untested(settings)
    publish_marts(settings.warehouse, settings.privacy)
    return folder, people


@pytest.mark.parametrize("seed", seeds(1), ids=lambda seed: f"seed-{seed}-")
def test_who_was_forgotten_is_nowhere_and_stays_so(
    platform: vetl_sandbox.Handle, begun: tuple[Path, list[dict[str, str]]], tmp_path: Path, seed: int
) -> None:
    platform.reset()
    rng = Random(seed)
    folder, people = begun
    shutil.copytree(folder, tmp_path / "site")
    settings = forgetting.settings_that_keep_everything(platform, tmp_path / "site", DAYS)
    story = Story(platform, settings, rng, rng.choice(people))
    before = story.some(2)
    how = ("killed", "no room", "whole")[seed % 3]
    replay = f"replay with: VETL_CHAOS_SEEDS={seed}-{seed + 1} pytest {__file__}; {before}, {how}"
    assert forgetting.remains_of(tmp_path / "site", story.person), replay

    between: list[str] = []
    if how != "whole":
        seconds, share = rng.uniform(0.3, 6.0), rng.uniform(0.2, 1.0)
        limits = {"kill": forgetting.after(seconds)} if how == "killed" else {}
        most = int(settings.warehouse.path.stat().st_size * share) if how == "no room" else 0
        error = forgetting.forget_apart(settings, story.person, tmp_path / "ended", most=most, **limits)
        replay += f" after {seconds:.2f} s" if how == "killed" else f" with {most} bytes: {error}"
        between = story.some(2)
    if read_plans(settings.warehouse.path) and rng.random() < 0.5:
        done = forgetting.continue_forgetting(settings)[-1]
    else:
        done = forgetting.forget(settings, story.person)
    replay += f"; then {between}"
    assert (done.left, done.exit_code) == ([], 0), replay
    assert read_plans(settings.warehouse.path) == [], replay
    assert forgetting.remains_of(tmp_path / "site", story.person) == [], replay

    replay += f", {story.some(3)}"
    story.reconcile_all()
    story.drain()
    assert forgetting.remains_of(tmp_path / "site", story.person) == [], replay
    assert calls_here(settings) == (len(list(platform.truth(PRACTICE, "phone_calls"))), 0), replay
