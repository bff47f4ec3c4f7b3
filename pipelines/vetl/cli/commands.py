"""The class of the commands. Most commands need settings, and the help of each shows examples."""

from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand

Command = TypeVar("Command", bound=Callable[..., Any])

WITHOUT_SETTINGS = frozenset(("demo", "explain", "init", "mcp", "metric", "query", "sandbox serve", "verify"))
"""Commands that run in any folder. `query` and those about figures decide themselves whether they need any."""

EXAMPLES = {
    "act apply": "vetl act apply 0123456789abcdef",
    "act plan": """
        vetl act plan
        vetl act plan --practice loc-001 --json""",
    "act status": "vetl act status",
    "backup": "vetl backup /backups/2026-01-15",
    "build": """
        vetl build
        vetl build --full-refresh""",
    "dagster": "vetl dagster dev",
    "dashboard": """
        vetl dashboard --open
        vetl dashboard --port 8600""",
    "dbt": """
        vetl dbt ls
        vetl dbt test --select phone_calls""",
    "demo": """
        vetl demo
        vetl demo --days 60 --open
        vetl demo --keep               (in another terminal: vetl -C demo run)""",
    "doctor": """
        vetl doctor
        vetl doctor --write
        vetl doctor --practice loc-001 --endpoint phone_calls --all""",
    "explain": """
        vetl explain
        vetl explain practice_daily.calls --practice loc-001 --day 2026-01-12
        vetl explain practice_daily.calls --day 2026-01-12 --format csv""",
    "forecast": """
        vetl forecast
        vetl forecast --json""",
    "forget": "vetl forget --practice loc-001 --client 10000001",
    "init": """
        vetl init
        vetl -C practices init""",
    "lake export": "vetl lake export",
    "mcp": """
        vetl mcp
        vetl mcp --practice loc-001 --practice loc-002
        vetl mcp --http --port 8765""",
    "metric": """
        vetl metric
        vetl metric intent_rate --by practice,week --where direction=inbound
        vetl metric calls --by day --since 2026-01-01 --format csv""",
    "notebook": """
        vetl notebook
        vetl notebook calls.py --open""",
    "publish": """
        vetl publish
        vetl publish --rollback
        vetl publish --for East""",
    "quarantine acknowledge": """
        vetl quarantine acknowledge --reason "test rows of the platform"
        vetl quarantine acknowledge --endpoint staff_tasks --reason known""",
    "quarantine list": """
        vetl quarantine list
        vetl quarantine list --json""",
    "quarantine retry": "vetl quarantine retry",
    "query": """
        vetl query
        vetl query "from marts.practices"
        vetl query "select day, calls from marts.practice_daily" --format csv
        vetl query --question missed-hours
        vetl query --file question.sql""",
    "reconcile": """
        vetl reconcile
        vetl reconcile --practice loc-001 --full""",
    "report": """
        vetl report
        vetl report --preview letters
        vetl report --to East --again""",
    "restore": "vetl restore /backups/2026-01-15",
    "run": """
        vetl run
        vetl -C /srv/vetl run --quiet --log-file vetl.log
        vetl run --practice loc-001 --json""",
    "sandbox serve": """
        vetl sandbox serve --port 8787
        vetl sandbox serve --practices 1 --days 30 --faults flaky""",
    "status": """
        vetl status
        vetl status --practice loc-001
        vetl status --watch""",
    "sync": """
        vetl sync
        vetl sync --practice loc-001 --endpoint phone_calls
        vetl sync --since 2026-01-01""",
    "verify": """
        vetl verify
        vetl verify analytics.duckdb --practice loc-001 --day 2026-01-12""",
    "watch": """
        vetl watch
        vetl watch --since 2026-01-01""",
    "webhooks drain": """
        vetl webhooks drain
        vetl webhooks drain --message msg-1""",
    "webhooks serve": """
        vetl webhooks serve
        vetl webhooks serve --port 8091""",
}
"""The end of each command's help."""


class WithSettings(TyperCommand):
    """A command that refuses to start in a folder without settings.

    The check is made after the arguments are parsed, so that `--help` answers in any folder.
    """

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - the context is a class of Typer that is not public
        """Run the command.

        Raises:
            ConfigurationError: there is no `vetl.toml`, and no environment variable sets more than a secret.
        """
        from vetl.settings import require_settings  # noqa: PLC0415 - pydantic is not needed for `--help`

        if "--help" not in ctx.args:  # of dbt and Dagster, which get all arguments
            require_settings(needs_secrets=False)  # a command that needs secrets reads them itself
        return super().invoke(ctx)


class Commands(typer.Typer):
    """A group of commands. `group` is the word before their names.

    A command needs settings unless `WITHOUT_SETTINGS` names it.
    """

    def __init__(self, help_line: str, *, group: str = "", **more: Any) -> None:  # noqa: ANN401 - as Typer's own
        super().__init__(help=help_line, rich_markup_mode=None, **more)
        self._group = group

    def command(self, name: str | None = None, **more: Any) -> Callable[[Command], Command]:  # noqa: ANN401 - as Typer's
        """Return the decorator that adds a function as a command."""

        def add(function: Command) -> Command:
            full_name = f"{self._group} {name or function.__name__}".strip()
            kind = TyperCommand if full_name in WITHOUT_SETTINGS else WithSettings
            return super(Commands, self).command(name, cls=kind, epilog=_epilog(full_name), **more)(function)

        return add


def _epilog(command: str) -> str | None:
    """Return the examples for the end of the help. The backspace makes Typer keep the line breaks."""
    lines = [f"  {line.strip()}" for line in EXAMPLES.get(command, "").splitlines() if line.strip()]
    return "\n".join(("\b", "Examples:", *lines)) if lines else None
