"""A month with a platform, as a user follows it: its rows at each visit, and the marts built from them.

Everything runs as it does for a user: the sandbox over HTTP, the real receiver, `sync`, `drain`, `build`. The
results are plain data, so several test processes can share one story.
"""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import vetl_sandbox
from support.dbt_build import BOOKING_STAGES
from support.expected import Mart
from support.lists import TABLES
from support.partner_side import Partner, made
from support.sandbox_settings import changed, settings_for, synced
from support.warehouse_with_rows import ask
from vetl.core.list_read import Practice, Reconcile
from vetl.core.published_file import has_source_words
from vetl.jobs.build import publish_marts
from vetl.jobs.dbt_process import BuildResult, state_folder
from vetl.jobs.drain import run_drain
from vetl.publishing.marts import table_of
from vetl.settings import Settings

MOVING = ("phone_calls", "booking_sessions", "appointments", "ai_outbound", "staff_tasks")
START = datetime(2026, 3, 7, 17, 30, tzinfo=UTC)
"""A day before America's clocks go forward; with half a year before and a month after it, every zone of the
stories puts its clocks back once and forward once.
"""
DAYS = 160


@dataclass(frozen=True)
class Visit:
    """The platform's rows when vetl read it: its own records by practice and list."""

    at: datetime
    lists: dict[tuple[str, str], list[dict[str, Any]]]


@dataclass(frozen=True)
class Chapter:
    """A build: all visits until then, and the marts.

    `acts`: what vetl did about each unbooked request; `list_next_day`: the call-back list a day after it.
    `webhooks`: kind and payload of each accepted webhook; `in_full`: the build was not incremental.
    """

    practices: Sequence[Practice]
    visits: tuple[Visit, ...]
    messages: list[dict[str, Any]]
    webhooks: list[tuple[str, dict[str, Any]]]
    marts: dict[str, Mart]
    unpublished: list[str]
    in_full: bool
    acts: list[dict[str, Any]]
    list_next_day: set[tuple[str, str]]
    began: datetime
    """The dates by this machine's clock, which is the clock of received webhooks."""

    def rows(self, mart: str) -> list[dict[str, Any]]:
        return [dict(zip(self.marts[mart].columns, row, strict=True)) for row in self.marts[mart].rows]


@dataclass
class Follower:
    """A platform, and a warehouse that follows some of its practices."""

    platform: vetl_sandbox.Handle
    settings: Settings
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    visits: list[Visit] = field(default_factory=list)
    texted: list[tuple[str, str]] = field(default_factory=list)
    acts: list[dict[str, Any]] = field(default_factory=list)
    list_next_day: set[tuple[str, str]] = field(default_factory=set)
    unreachable: frozenset[tuple[str, str]] = frozenset()
    """Lists that the platform does not show at present, by practice and name."""

    def visit(self, *, endpoints: Sequence[str] | None = None, reconcile: Reconcile = "no") -> None:
        """Sync, drain, and record the visible rows."""
        result = synced(self.settings, endpoints=endpoints, reconcile=reconcile)
        assert result.exit_code == (1 if self.strangers else 0), result.as_json()
        assert run_drain(self.settings).exit_code == 0
        read = [one.id for one in self.settings.practices if one.id not in self.strangers]
        held = {
            (practice, name): self.visits[-1].lists[practice, name]
            if (practice, name) in self.unreachable
            else self.platform.truth(practice, name)
            for practice, name in product(read, endpoints or TABLES)
        }
        self.visits.append(Visit(self.platform.now().astimezone(UTC), held))

    def chapter(self, build: Callable[[Settings], BuildResult]) -> Chapter:
        result = build(self.settings)
        assert result.exit_code == 0, result
        publish_marts(self.settings.warehouse, self.settings.privacy)
        return Chapter(
            practices=self.settings.practices,
            visits=tuple(self.visits),
            messages=[
                {**Partner(self.platform, practice).page(f"messages/{one}"), "practice_id": practice}
                for practice, one in self.texted
            ],
            webhooks=[(one.kind, one.payload) for one in self.platform.webhooks if one.acknowledged],
            marts=_marts(self.settings.warehouse.path),
            unpublished=_unpublished(self.settings),
            in_full=ask(self.settings.warehouse.path, "select is_full from control.builds") == [(True,)],
            acts=list(self.acts),
            list_next_day=self.list_next_day,
            began=self.began,
        )

    def text(self, practice_id: str, number: int) -> None:
        """Send a message; the last digits of the number decide its result."""
        message = {"recipient": {"phone_number": f"+121255501{number:02}"}, "fallback_text": "Rex is due."}
        sent = made(Partner(self.platform, practice_id).post("messages", message))
        self.texted.append((practice_id, sent["id"]))

    @property
    def strangers(self) -> list[str]:
        """Return practices that the platform does not know, so none of their lists can be read."""
        on_platform = {practice.id for practice in self.platform.practices}
        return [one.id for one in self.settings.practices if one.id not in on_platform]


@contextmanager
def following(
    folder: Path, *, seed: int, practices: Sequence[str], groups: Mapping[str, str], start: datetime = START
) -> Generator[Follower]:
    """Run a platform of eight practices and follow some of them. It does not know those without `loc-`."""
    with vetl_sandbox.running(
        practices=8, days=DAYS, calls=8 * 200, seed=seed, frozen=True, start=start
    ) as platform:
        plain = settings_for(platform, folder, DAYS)
        followed = tuple(one for one in plain.practices if one.id in practices)
        extra = tuple(
            Practice(one, one, "America/Santiago", date(2026, 2, 1))
            for one in practices
            if not one.startswith("loc-")
        )
        inbox = folder / "warehouse" / "data" / "inbox.sqlite"
        settings = changed(
            plain,
            phone_calls={"details": "all"},
            webhooks={"inbox": inbox},
            definitions={"booking_stages": BOOKING_STAGES},
        )
        own = tuple(replace(one, group=groups.get(one.id)) for one in followed + extra)
        yield Follower(platform, settings.model_copy(update={"practices": own}))


def _marts(path: Path) -> dict[str, Mart]:
    with duckdb.connect(str(path), read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        marts: dict[str, Mart] = {}
        names = "select distinct table_name from duckdb_columns() where schema_name in ('marts', 'meta')"
        for (name,) in connection.execute(names).fetchall():
            cursor = connection.execute(f"select * from {table_of(name)}")
            marts[name] = Mart(tuple(column[0] for column in cursor.description or ()), cursor.fetchall())
        return marts


def _unpublished(settings: Settings) -> list[str]:
    """Return the differences between the published and the private file, columns of personal data aside.

    Columns of words are compared by their shown values, because rare words are masked.
    """
    with duckdb.connect() as connection:
        for name, path in (("private", settings.warehouse.path), ("public", settings.warehouse.published)):
            connection.execute(f"attach '{path}' as {name} (read_only)")
        wrong: list[str] = []
        for name, columns in _described(settings.warehouse.path).items():
            words = [one for one in columns if has_source_words(name, one)]
            personal = [one for one in columns if columns[one]["config"].get("meta", {}).get("personal")]
            hidden = [*personal, *words, "practice_name", "none"]  # the name comes in as it is published
            for word in words:
                in_public = f"select {word} from public.{table_of(name)} where not starts_with({word}, 'masked ')"
                alone = connection.execute(f"{in_public} except all select {word} from private.{table_of(name)}")
                wrong += [f"{name}.{word}: {row} is in the public file alone" for row in alone.fetchmany(3)]
            shown = f"columns(lambda c: c not in {tuple(hidden)})"
            for one, other in (("private", "public"), ("public", "private")):
                here, there = (f"select {shown} from {file}.{table_of(name)}" for file in (one, other))
                alone = connection.execute(f"{here} except all {there}").fetchmany(3)
                wrong += [f"{name}: {row} is in the {one} file alone" for row in alone]
        return wrong


def _described(warehouse: Path) -> dict[str, dict[str, Any]]:
    """Return dbt's knowledge of the columns of each mart."""
    manifest = json.loads((state_folder(warehouse) / "target" / "manifest.json").read_text())
    models = [node for node in manifest["nodes"].values() if node["resource_type"] == "model"]
    return {model["name"]: model["columns"] for model in models if model["schema"] in {"marts", "meta"}}
