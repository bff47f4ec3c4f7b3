"""The webhooks of the demo: run a receiver, and advance the platform by a day with text messages."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from vetl.cli.sandbox import Platform
from vetl.core.errors import Unreachable
from vetl.core.zones import zone
from vetl.settings.sources import PREFIX

_SIGN_IN = "/services/user/v1/auth/sign-in"
_MESSAGES = "/services/core/open_api/v1/messages"
_NUMBERS = (0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18, 19)
"""The last digits of the phone numbers that get a text. In the sandbox they decide its state: opted out, blocked,
undelivered, delivered or read."""


@contextmanager
def receiver(folder: Path, platform: Platform) -> Generator[str]:
    """Run `vetl webhooks serve` in the demo's folder, on a free port, until the block ends. Yield its address."""
    environment = {name: value for name, value in os.environ.items() if not name.upper().startswith(PREFIX)}
    process = subprocess.Popen(
        [sys.executable, "-m", "vetl", "webhooks", "serve", "--port", "0", "--json"],
        cwd=folder,
        env={**environment, f"{PREFIX}WEBHOOKS__SECRETS": platform.webhook_secret},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # its last line only reports that it was terminated
        text=True,
        start_new_session=True,
    )
    try:
        greeting = process.stdout.readline() if process.stdout else ""
        if not greeting:
            command = f"cd {folder} && vetl webhooks serve"
            raise Unreachable(
                f"the webhook receiver did not start: exit code {process.wait()}; `{command}` shows the reason"
            )
        yield json.loads(greeting)["base_url"]
    finally:
        process.terminate()
        process.wait()


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
