"""No clear value of a personal column is in any published file, output or log, wherever the source puts it."""

import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import duckdb
import pytest
import vetl_sandbox
from support.dashboard_pages import page_of_dashboard
from support.lying_proxy import lying
from support.sandbox_settings import at, changed, settings_for
from support.warehouse_with_rows import ask
from vetl.bundled import dbt_project
from vetl.cli import app, run, status
from vetl.jobs.dbt_process import state_folder
from vetl.jobs.quarantined_rows import quarantined_rows
from vetl.publishing.copies import parquet_folder
from vetl.publishing.descriptions import personal_columns
from vetl.publishing.marts import table_of
from vetl.settings import Settings

DAYS = 12
PAGES = ("", "call-back", "phones", "online-booking", "outreach", "tasks", "health")
SHORTEST = 6
"""Characters that no other byte can be mistaken for."""

HARMLESS = {
    "booking_sessions": ("referral_source", "referral_campaign", "referral_medium", "stage", "client_type"),
    "appointments": ("referral_source", "referral_campaign", "referral_medium", "status", "client_type"),
    "ai_outbound": ("purpose", "suppression_reason", "channel"),
    "staff_tasks": ("task_type",),
}
"""Fields of lists whose values come from a fixed set of words."""

STORED = {
    "phone_calls": ("customer_sentiment", "call_classification", "outcome", "caller_type", "practice"),
    "patients": ("species", "breed"),
}
"""The same for tables that are read one row or one file at a time."""


@dataclass(frozen=True)
class Outcome:
    settings: Settings
    said: str
    values: frozenset[str]


def spellings(person: dict[str, Any], row: object) -> list[str]:
    """Return the person's values as a row has them; the text with the name is each time another."""
    name, phone = f"{person['name']} {row}", person["phone"]
    return [name, phone, person["email"], f"a friend, {name}", f"call {phone[:-7]} {phone[-7:-4]}-{phone[-4:]}"]


def hostile(platform: vetl_sandbox.Handle) -> tuple[dict[str, Any], Any]:
    """A client of the platform, and a function that puts their values into fields of other rows."""
    practice = platform.describe()["practices"][0]["id"]
    person = next(
        row
        for row in platform.truth(practice, "clients")
        if row["email"] and (row["phone"] or "").startswith("+") and " " in row["name"]
    )

    def change(path: str, page: dict[str, Any]) -> None:
        name = next((name for name in HARMLESS if f"/{name}" in path), None)
        for row in page["content"] if name else ():
            seed = sum(str(row["id"]).encode())
            for number, field in enumerate(HARMLESS[name or ""]):
                if row[field] is not None:
                    row[field] = spellings(person, row["id"])[(seed + number) % 5]
            if name == "staff_tasks" and seed % 3 == 0:
                row["created_at"] = spellings(person, row["id"])[seed % 5]

    return person, change


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    folder = tmp_path_factory.mktemp("privacy")
    said = StringIO()
    with (
        pytest.MonkeyPatch.context() as patched,
        redirect_stdout(said),
        redirect_stderr(said),
        vetl_sandbox.running(practices=1, calls=150, days=DAYS, seed=3, frozen=True) as platform,
    ):
        person, change = hostile(platform)
        with lying(platform.base_url, change) as address:
            settings = settings_for(platform, folder, DAYS)
            settings = at(changed(settings, warehouse={"parquet": True}), address)
            patched.chdir(folder)
            (folder / "vetl.toml").touch()
            for module in (run, status):
                patched.setattr(module, "load_settings", lambda: settings)
            log = ["--log-file", str(folder / "vetl.log")]
            assert app.execute([*log, "sync", "-vv"]) == 3
        put_into(settings.warehouse.path, person)
        assert app.execute([*log, "build", "-vv"]) == 0, said.getvalue()[-3000:]
        assert app.execute(["status"]) == 3
    return Outcome(settings, said.getvalue(), personal_values(settings.warehouse.path))


def put_into(private: Path, person: dict[str, Any]) -> None:
    with duckdb.connect(str(private)) as connection:
        for table, columns in STORED.items():
            for column in columns:
                connection.execute(
                    f"update raw.{table} set {column} = replace("
                    f"($1::varchar[])[1 + (hash({column}, _row_hash) % 5)::int], 'ROW', _row_hash::varchar)"
                    " where hash(_row_hash) % 3 = 0",
                    [spellings(person, "ROW")],
                )


def personal_values(private: Path) -> frozenset[str]:
    """Return every value of every personal column, except words that any field may contain."""
    return frozenset(
        value
        for mart, columns in personal_columns(dbt_project()).items()
        for column in columns
        for (value,) in ask(private, f"select distinct {column} from marts.{mart}")
        if value and len(value) >= SHORTEST
    )


def held_in(text: str, values: frozenset[str]) -> list[str]:
    return sorted(value for value in values if value in text)


def everything(published: Path) -> Iterator[tuple[str, str]]:
    """Return each table of the published file and its Parquet as text, because the files are compressed."""
    with duckdb.connect() as connection:
        connection.execute(f"attach '{published}' as published (read_only)")
        tables = "select table_name from duckdb_tables() where database_name = 'published'"
        sources = [f"published.{table_of(name)}" for (name,) in connection.execute(tables).fetchall()]
        sources += [f"'{file}'" for file in parquet_folder(published).rglob("*.parquet")]
        for source in sources:
            rows = connection.execute(f"select (one::json)::varchar from {source} as one").fetchall()
            yield source, "\n".join(row for (row,) in rows)


def test_many_values_were_put_into_wrong_fields(outcome: Outcome) -> None:
    """Otherwise the other tests would prove nothing."""
    assert len(outcome.values) > 300
    for mart, column in (
        ("booking_sessions", "referral_campaign"),
        ("appointments", "status"),
        ("staff_tasks", "task_type"),
        ("phone_calls", "outcome"),
        ("patients", "breed"),
        ("booking_funnel_daily", "referral_source"),
        ("booking_requests", "appointment_status"),
        ("unbooked_requests", "wanted"),
    ):
        rows = ask(outcome.settings.warehouse.path, f"select distinct {column} from marts.{mart}")
        assert held_in("\n".join(str(value) for (value,) in rows), outcome.values), (mart, column)


def test_no_table_that_is_published_holds_one(outcome: Outcome) -> None:
    held = {
        source: held_in(text, outcome.values) for source, text in everything(outcome.settings.warehouse.published)
    }

    assert len(held) > 50
    assert {source: values for source, values in held.items() if values} == {}


def test_no_byte_of_files_that_leave_the_private_one_holds_one(outcome: Outcome) -> None:
    """The published file and its Parquet, dbt's state, status, record and log."""
    private = outcome.settings.warehouse.path
    files = [path for path in private.parent.rglob("*") if path.is_file() and path != private]
    encoded = {value: (value.encode(), json.dumps(value)[1:-1].encode()) for value in outcome.values}
    held: dict[str, list[str]] = {}
    for path in files:
        content = path.read_bytes()
        held[str(path)] = [value for value, forms in encoded.items() if any(form in content for form in forms)]

    names = {path.name for path in files}
    assert {"analytics.duckdb", "vetl.duckdb.notes.sqlite", "vetl.log", "manifest.json", "dbt.log"} <= names
    assert any(state_folder(private) in path.parents for path in files)
    assert {path: values for path, values in held.items() if values} == {}


def test_nothing_that_is_said_holds_one_nor_does_a_reason_of_quarantine(outcome: Outcome) -> None:
    """Payloads in quarantine are whole, for the owner: `vetl quarantine list`."""
    reasons = [row.reason for row in quarantined_rows(outcome.settings.warehouse)]

    assert reasons
    assert "quarantined" in outcome.said
    assert held_in("\n".join([outcome.said, *reasons]), outcome.values) == []


def test_no_page_of_the_dashboard_holds_one(outcome: Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VETL_WAREHOUSE__PUBLISHED", str(outcome.settings.warehouse.published))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # as in tests/dashboard
    for path in PAGES:
        page = page_of_dashboard(path).run()

        assert not page.exception
        frames = [table.value.to_csv() for table in page.dataframe]
        assert held_in(str(page) + "\n".join(frames), outcome.values) == [], path
