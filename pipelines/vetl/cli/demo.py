"""`vetl demo`: sync, build and publish a made-up platform in one folder. No other settings have an effect.

Its webhooks come from a day that passes on the platform, with text messages, while a receiver runs.
"""

import json
import os
import socket
import subprocess
import sys
import tomllib
from collections.abc import Generator, Mapping
from contextlib import ExitStack, chdir, contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from shlex import quote
from threading import Event
from typing import Annotated, Any
from urllib.request import Request, urlopen

import typer

from vetl.cli.commands import AsJson, Commands, lines
from vetl.cli.dashboard import dashboard, has_dashboard
from vetl.cli.run import run_everything, shown
from vetl.cli.sandbox import Platform, greeting_of, sandbox_process
from vetl.cli.terminal import count, mention, print_json, print_table, short, this_command
from vetl.core.errors import ConfigurationError, cannot_write
from vetl.core.zones import zone
from vetl.publishing.statements import query
from vetl.run import built_and_published
from vetl.settings import Settings, load_settings
from vetl.settings.sources import DEFAULT_FILE, PREFIX
from vetl.store.notes import read_note

QUESTIONS = {
    "Where bookings are lost: sessions of the last 30 days by referral source": """
        select coalesce(referral_source, '(none)') as referral_source,
               sum(sessions)::bigint as sessions, sum(completed)::bigint as completed,
               sum(abandoned)::bigint as abandoned, sum(active)::bigint as active,
               round(sum(completed) / nullif(sum(sessions), 0), 3) as completion_rate
        from marts.booking_funnel_daily
        where day > (select max(day) from marts.booking_funnel_daily) - 30
        group by all order by sessions desc
    """,
    "How many callers who wanted to book did: calls of the last 30 days by caller type": """
        select coalesce(caller_type, '(none)') as caller_type,
               sum(calls)::bigint as calls, sum(intent_calls)::bigint as wanted_to_book,
               sum(intent_booked_calls)::bigint as booked, sum(missed_intent_calls)::bigint as missed,
               round(sum(intent_booked_calls) / nullif(sum(intent_calls), 0), 3) as conversion_rate
        from marts.booking_intent_daily
        where day > (select max(day) from marts.booking_intent_daily) - 30
        group by all order by calls desc
    """,
    "What outreach achieved: requests of the last 30 days by purpose": """
        select coalesce(purpose, '(none)') as purpose,
               sum(requests)::bigint as requests, sum(contacted)::bigint as contacted,
               sum(booked)::bigint as booked, sum(opted_out)::bigint as opted_out,
               sum(no_response)::bigint as no_response, sum(open)::bigint as open,
               round(sum(booked) / nullif(sum(contacted), 0), 3) as booked_rate
        from marts.outreach_outcomes_daily
        where day > (select max(day) from marts.outreach_outcomes_daily) - 30
        group by all order by requests desc
    """,
}
"""The questions of practice managers, as SQL statements on the published marts."""
STAGES = ["started", "client_details", "pet_details", "reason_selected", "slot_selected", "confirmed"]
"""The order of the stages on the made-up platform. A new warehouse has no moves that show it."""

HOLIDAYS = ["12-25", "01-01"]
"""Days on which the made-up practices are closed."""


app = Commands()


@app.command(
    examples="""
        vetl demo
        vetl demo --days 60 --open
        vetl demo --keep               (in another terminal: vetl -C demo run)""",
    needs_settings=False,
)
def demo(
    folder: Annotated[Path, typer.Option(help="The folder for all files.")] = Path("demo"),
    days: Annotated[int, typer.Option(min=1, help="Days of history.")] = 365,
    practices: Annotated[int, typer.Option(min=1, max=500, help="How many practices.")] = 3,
    show: Annotated[bool, typer.Option("--open", help="Open the dashboard in the browser in the end.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the platform running until Ctrl-C.")] = False,
    as_json: AsJson = False,
) -> int:
    """Try everything on a made-up platform on this machine."""
    if show and not has_dashboard():
        raise ConfigurationError("--open needs the dashboard: pip install 'vetl-warehouse[dashboard]'")
    folder = folder.absolute()
    mention(f"starting a made-up platform: {count(practices, 'practice')}, {count(days, 'day')} of history")
    with ExitStack() as running:
        if keep:
            running.callback((folder / ".env").unlink, missing_ok=True)  # the credentials of this platform
        platform = running.enter_context(sandbox_process(practices=practices, days=days))
        _write_settings(folder, platform, days)
        if "webhooks" in lines():
            with receiver(folder, platform) as address:
                texts = a_day_passes(platform, address)
                mention(f"a day has passed: {count(texts, 'text message')} sent, webhooks received")
        with _only_these(folder, _credentials(platform)):
            settings = load_settings()
            report = run_everything(settings, quiet=as_json)
            if report["published"] and "forecast" in lines():
                _predict(folder, settings)
        if not keep:
            running.close()
        _answer(folder, settings, report, as_json=as_json)
        if keep:
            _keep(folder, platform)
        if show and report["published"]:
            with _only_these(folder, {}):
                dashboard(port=_free_port(), show=True)
        elif keep:
            with suppress(KeyboardInterrupt):
                Event().wait()
    return report["exit_code"]


def _predict(folder: Path, settings: Settings) -> None:
    """Predict the calls of the next days, which needs a published history, and publish the predictions."""
    mention("predicting the calls of the next two weeks")
    command = [sys.executable, "-m", "vetl", "forecast", "--json"]
    done = subprocess.run(command, cwd=folder, check=False, stdout=subprocess.PIPE)  # noqa: S603 - vetl itself
    if done.returncode == 0 and json.loads(done.stdout)["hours"]:
        shown(built_and_published(settings, all_tests=False), settings.practices, quiet=True)


def _answer(folder: Path, settings: Settings, report: dict[str, Any], *, as_json: bool) -> None:
    published = settings.warehouse.published
    if report["published"]:
        answers = {title: query(published, sql) for title, sql in QUESTIONS.items()}
        report["answers"] = {
            title: [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
            for title, answer in answers.items()
        }
        if not as_json:
            news = read_note(settings.warehouse.path, "headlines") or []
            rows = [(one["people"], one["words"]) for one in news]
            print_table("What is unusual now, and how many people it cost", ("people", "words"), rows)
            for title, answer in answers.items():
                print_table(title, answer.columns, answer.rows)
            command = f"{this_command()} -C {quote(short(folder))}"
            mention(f"\nThe published file: {short(published)}")
            mention(f"Query it: {command} query 'from marts.practices'")
            if has_dashboard():
                mention(f"Look at it: {command} dashboard --open")
    if as_json:
        print_json(report)


def _keep(folder: Path, platform: Platform) -> None:
    """Advance the platform by a day, and write its credentials for `vetl run` in the folder."""
    advance(platform, timedelta(days=1))
    lines = [f"{name}={value}" for name, value in _credentials(platform).items()]
    (folder / ".env").write_text("\n".join(lines) + "\n", "utf-8")
    mention("The platform runs until Ctrl-C; its clock has advanced by another day.")
    mention(f"In another terminal: {this_command()} -C {quote(str(folder))} run")


def _write_settings(folder: Path, platform: Platform, days: int) -> None:
    """Write the settings of this demo, so that other commands work in its folder later."""
    history_start = platform.clock.date() - timedelta(days=days)
    lines = [
        "# Written by `vetl demo`. The platform at this address runs as long as the demo.",
        "[partner]",
        f"base_url = {json.dumps(platform.base_url)}",
        "",
        "# Names and numbers for the call-back list. The people here are made up.",
        "[warehouse]",
        "contacts = true",
        "",
        "[definitions]",
        f"booking_stages = {json.dumps(STAGES)}",
        f"holidays = {{ default = {json.dumps(HOLIDAYS)} }}",
        "# The history is a year; the usual 365 days would find nobody.",
        "lapsed_after_days = 180",
        "# An assumption: what a visit is worth. Replace it by your own, or remove it.",
        "visit_value = { default = [90, 160] }",
    ]
    for practice in platform.practices:
        lines += [
            "",
            "[[practices]]",
            # A JSON string is a TOML string.
            *(f"{key} = {json.dumps(practice[key])}" for key in ("id", "name", "time_zone")),
            f"history_start = {history_start}",
            # Group by continent, so that the marts of groups have rows.
            f"group = {json.dumps(practice['time_zone'].partition('/')[0])}",
        ]
    text = "\n".join(lines) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _refuse_another_demo(folder, text)
        (folder / DEFAULT_FILE).write_text(text, "utf-8")
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{short(folder / DEFAULT_FILE)}: cannot be read: {error}") from None
    except OSError as error:
        raise ConfigurationError(cannot_write(folder, error)) from None


def _refuse_another_demo(folder: Path, settings: str) -> None:
    """Refuse the folder of a different demo, because its warehouse would mix the rows of two platforms."""
    existing = folder / DEFAULT_FILE
    practices = tomllib.loads(settings)["practices"]
    if existing.exists() and tomllib.loads(existing.read_text("utf-8")).get("practices") != practices:
        raise ConfigurationError(
            f"{short(folder)}: holds other practices or days; remove the folder, or give another with --folder"
        )


def _free_port() -> int:
    """Return a free port, because the dashboard of real data may use the default port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _credentials(platform: Platform) -> dict[str, str]:
    return {f"{PREFIX}PARTNER__{key.upper()}": getattr(platform, key) for key in ("username", "password", "role")}


@contextmanager
def _only_these(folder: Path, credentials: Mapping[str, str]) -> Generator[None]:
    """Read settings only from the demo's folder, so that its rows never reach a real warehouse."""
    before = {name: value for name, value in os.environ.items() if name.upper().startswith(PREFIX)}
    for name in before:
        del os.environ[name]
    os.environ.update(credentials)
    try:
        with chdir(folder):
            yield
    finally:
        for name in credentials:
            del os.environ[name]
        os.environ.update(before)


_SIGN_IN = "/services/user/v1/auth/sign-in"
_MESSAGES = "/services/core/open_api/v1/messages"
_NUMBERS = (0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18, 19)
"""The last digits of the phone numbers that get a text. In the sandbox they decide its state: opted out, blocked,
undelivered, delivered or read."""


@contextmanager
def receiver(folder: Path, platform: Platform) -> Generator[str]:
    """Run `vetl webhooks serve` in the demo's folder, on a free port, until the block ends. Yield its address."""
    others = {name: value for name, value in os.environ.items() if not name.upper().startswith(PREFIX)}
    with greeting_of(
        "the webhook receiver",
        ["-m", "vetl", "webhooks", "serve", "--port", "0", "--json"],
        remedy=f"; `cd {folder} && vetl webhooks serve` shows the reason",
        cwd=folder,
        env={**others, f"{PREFIX}WEBHOOKS__SECRETS": platform.webhook_secret},
        stderr=subprocess.DEVNULL,  # its last line only reports that it was terminated
    ) as greeting:
        yield greeting["base_url"]


def a_day_passes(platform: Platform, receiver_address: str) -> int:
    """Send texts to some clients of each practice, advance the clock by a day, and return the number of texts.

    Texts are sent at noon of the practice, because the platform refuses them at night (contract: Sending hours).
    """
    switches = {"webhooks_to": f"{receiver_address}/webhooks", "tasks_are_worked": True}
    _post(platform, "/_control/switches", switches)
    noons = [
        (_until_noon(platform.clock, practice["time_zone"]), practice["id"]) for practice in platform.practices
    ]
    passed = timedelta()
    for wait, practice_id in sorted(noons):
        advance(platform, wait - passed)
        passed = wait
        _text_clients(platform, practice_id)
    advance(platform, timedelta(days=1))
    return len(_NUMBERS) * len(platform.practices)


def _until_noon(clock: datetime, time_zone: str) -> timedelta:
    local = clock.astimezone(zone(time_zone))
    return timedelta(hours=(12 - local.hour) % 24)


def advance(platform: Platform, time: timedelta) -> None:
    """Move the platform's clock forward. All events that it has planned for that time happen."""
    _post(platform, "/_control/clock", {"advance_seconds": time.total_seconds()})


def _text_clients(platform: Platform, practice_id: str) -> None:
    credentials = {"username": platform.username, "password": platform.password, "role": platform.role}
    token = _post(platform, _SIGN_IN, credentials)["data"]["token"]
    headers = {"Authorization": f"Bearer {token}", "X-Client-Id": practice_id}
    for number in _NUMBERS:
        message = {
            "recipient": {"phone_number": f"+121255501{number:02}"},
            "fallback_text": "Your pet is due for a visit. Call us to book.",
        }
        _post(platform, _MESSAGES, message, headers)


def _post(platform: Platform, path: str, body: object, headers: dict[str, str] | None = None) -> dict[str, Any]:
    request = Request(  # noqa: S310 - the loopback address of the sandbox
        f"{platform.base_url}{path}",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", **(headers or {})},
    )
    with urlopen(request) as answer:  # noqa: S310 - as above
        return json.loads(answer.read())
