"""Run the dashboard for managers and the notebook for analysts, each in a process of its own."""

import getpass
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer
from pydantic import ValidationError

from vetl import bundled
from vetl.cli.commands import Browse, Commands
from vetl.cli.terminal import say
from vetl.core.errors import ConfigurationError, WarehouseError, cannot_listen, cannot_write
from vetl.core.list_read import Practice
from vetl.core.text import is_this_machine
from vetl.settings import Settings, load_settings, published_file
from vetl.settings.core_sections import DashboardSettings

SECONDS_TO_END = 10
"""Seconds until a server is killed. A server that is still starting may ignore the first signal."""
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")

_FIELDS = DashboardSettings.model_fields

app = Commands()


def _set_password(name: str) -> int:
    settings = load_settings().dashboard
    if find_spec("argon2") is None:
        raise ConfigurationError("argon2 is not installed: pip install 'vetl-warehouse[dashboard]'")
    if name not in settings.users:
        known = ", ".join(settings.users) or "none"
        raise ConfigurationError(f"dashboard.users: there is no user {name}; known are {known}")
    password = (
        getpass.getpass(f"Password of {name}: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    )
    if sys.stdin.isatty() and getpass.getpass("Once more: ") != password:
        raise ConfigurationError("the two passwords differ; nothing was changed")
    from vetl.cli import passwords  # noqa: PLC0415 - the extra may not be installed

    try:
        passwords.set_password(settings.passwords, name, password)
    except ValueError as error:
        raise ConfigurationError(f"{name}: {error}") from None
    except OSError as error:
        raise ConfigurationError(cannot_write(settings.passwords, error)) from None
    say(f"{name} signs in with the new password from now on: {settings.passwords}")
    return 0


@app.command(
    examples="""
        vetl dashboard --open
        vetl dashboard --port 8600"""
)
def dashboard(
    host: Annotated[
        str | None, typer.Option(help=f"Use this address, not that of [dashboard] ({_FIELDS['host'].default}).")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65535, help=f"Use this port, not that of [dashboard] ({_FIELDS['port'].default})."
        ),
    ] = None,
    show: Browse = False,
    set_password: Annotated[
        str | None,
        typer.Option(
            "--set-password",
            metavar="NAME",
            help="Ask for the password of a user of [dashboard.users], and keep it.",
        ),
    ] = None,
) -> int:
    """Show the published file to managers, in the browser."""
    if set_password is not None:
        return _set_password(set_password)
    settings = load_settings()
    effective = _overridden(settings.dashboard, host, port)
    published = _ready(settings.warehouse.published, "streamlit", "dashboard")
    refuse_taken(effective.host, effective.port)
    options = {"address": effective.host, "port": str(effective.port), "headless": "true"}
    flags = [f"--server.{key}={value}" for key, value in options.items()]
    if is_this_machine(effective.host):
        # Against DNS rebinding: a web page must not read the dashboard through a host name of its own.
        flags += [f"--server.allowedHosts={name}" for name in _THIS_MACHINE]
    say(f"the dashboard of {published}")
    host_name = "localhost" if is_this_machine(effective.host) else effective.host
    address = f"http://{host_name}:{effective.port}"
    say(f"open {address} (Ctrl+C ends it)")
    environment = {
        "VETL_DASHBOARD__OPEN": address if show else "",
        "VETL_WAREHOUSE__PUBLISHED": str(published),
        "VETL_DASHBOARD__PASSWORD": effective.password.get_secret_value() if effective.password else "",
        "VETL_DASHBOARD__USER_HEADER": effective.user_header or "",
        "VETL_DASHBOARD__PROXIES": json.dumps(effective.trusted()),
        **_ledgers(settings),
        "VETL_DASHBOARD__MADE_UP": "1" if _is_made_up(settings) else "",
        **_users(effective, settings.practices),
        # Otherwise Streamlit's server uses the address in X-Forwarded-For as the address of the client.
        "FORWARDED_ALLOW_IPS": "",
    }
    return _run(["streamlit", "run", str(bundled.dashboards() / "server.py"), *flags], environment)


def _ledgers(settings: Settings) -> dict[str, str]:
    """Return the variables with the ledgers of addons, which some pages read."""
    return {
        f"VETL_{name}__LEDGER".upper(): str(path)
        for name, section in settings.sections()
        for key, path in section.places(name)
        if key == f"{name}.ledger"
    }


def _is_made_up(settings: Settings) -> bool:
    """Return whether the platform is on this machine: nobody's own is, that of the demo is."""
    return is_this_machine(urlsplit(settings.partner.base_url or "").hostname or "")


def _users(effective: DashboardSettings, practices: Sequence[Practice]) -> dict[str, str]:
    """Return the variables about users; without users they are empty, whatever this process inherited."""
    groups = {practice.id: practice.group for practice in practices}
    users = effective.practices_by_user(groups)
    return {
        "VETL_DASHBOARD__USERS": json.dumps(users) if users else "",
        "VETL_DASHBOARD__PASSWORDS": str(effective.passwords) if users else "",
        "VETL_DASHBOARD__AUDIT": str(effective.audit) if users else "",
        "VETL_DASHBOARD__MARKS": str(effective.marks),
        "VETL_DASHBOARD__SESSION_HOURS": str(effective.session_hours),
    }


@app.command(
    examples="""
        vetl notebook
        vetl notebook calls.py --open"""
)
def notebook(
    file: Annotated[Path, typer.Argument(help="The notebook; written if it does not exist.")] = Path(
        "vetl_notebook.py"
    ),
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Use this port, not the first free one.")
    ] = None,
    show: Browse = False,
) -> int:
    """Start a notebook on the published file, for analysts."""
    published = _ready(published_file(), "marimo", "notebook")
    if port:
        refuse_taken("127.0.0.1", port)
    try:
        with file.open("x", encoding="utf-8") as new:
            new.write((bundled.dashboards() / "notebook.py").read_text("utf-8"))
        say(f"wrote {file}")
    except FileExistsError:
        say(f"{file} exists already and is opened unchanged")
    except OSError as error:
        raise ConfigurationError(cannot_write(file, error)) from None
    # A notebook runs code, so marimo listens only on this machine, and its address contains a token.
    flags = ["--skip-update-check", "--no-sandbox", *([] if show else ["--headless"])]
    flags += [f"--port={port}"] if port else []
    return _run(["marimo", "edit", *flags, str(file)], {"VETL_WAREHOUSE__PUBLISHED": str(published)})


def has_dashboard() -> bool:
    """Return whether the extra that `vetl dashboard` needs is installed."""
    return find_spec("streamlit") is not None


def _overridden(settings: DashboardSettings, host: str | None, port: int | None) -> DashboardSettings:
    """Return the settings with the options of the command line, validated as a whole."""
    options = {key: value for key, value in (("host", host), ("port", port)) if value is not None}
    try:
        return DashboardSettings.model_validate({**settings.model_dump(), **options})
    except ValidationError as error:
        raise ConfigurationError(f"dashboard: {error.errors()[0]['msg']}") from None


def refuse_taken(host: str, port: int) -> None:
    """Refuse a port that another program uses; Streamlit and marimo would print an address and then end."""
    try:
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET):
            pass
    except OSError as error:
        raise cannot_listen(host, port, error) from None


def _ready(published: Path, module: str, extra: str) -> Path:
    if find_spec(module) is None:
        raise ConfigurationError(f"{module} is not installed: pip install 'vetl-warehouse[{extra}]'")
    if not published.exists():
        raise WarehouseError(f"{published}: there is no such file yet; `vetl run` makes it")
    return published


def _run(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a module with this interpreter until it or this process ends; end its child processes with it."""
    process = subprocess.Popen(  # noqa: S603 - this interpreter
        [sys.executable, "-m", *arguments], env={**os.environ, **environment}, start_new_session=True
    )
    try:
        return process.wait()
    finally:
        with suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(SECONDS_TO_END)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
