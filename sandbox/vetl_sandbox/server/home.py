"""A page for people: the contents of the platform, and how to ask for them."""

from html import escape
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from vetl_sandbox.platform import Platform
from vetl_sandbox.server.auth import platform_of
from vetl_sandbox.server.greeting import commands
from vetl_sandbox.server.style import page, table
from vetl_sandbox.world import LISTS

_COUNTED: Final = 20
_ABOUT: Final = (
    "A made-up veterinary practice platform on this machine, drawn from a seed. Nobody in here is real. Its clock "
    'stands at <b style="white-space:nowrap">{now} UTC</b>; it can be moved forward.'
)
_CONTROL: Final = {
    "clock": "the time; move it forward",
    "switches": "points that the contract leaves open",
    "faults": "faults, on demand",
    "webhook_faults": "faults of the sender of webhooks",
    "webhooks": "every delivery and its answer",
    "requests": "how often each path was asked for",
    "truth?practice_id=loc-001&list=staff_tasks": "a whole list, as a complete read must find it",
}


async def home(request: Request) -> Response:
    """Return a page with the rows of each list for the first practices.

    The lists of the other practices are drawn only when somebody asks for them.
    """
    platform = platform_of(request)
    practices = list(platform.world.practices.values())
    rows = [
        [
            f"<code>{practice.id}</code>",
            escape(practice.name),
            practice.time_zone,
            *(_counts(platform, practice.id) if place < _COUNTED else ["\t\u2026"] * len(LISTS)),
        ]
        for place, practice in enumerate(practices)
    ]
    heads = ["Id", "Practice", "Time zone", *("\t" + name.replace("_", " ") for name in LISTS)]
    control = [
        [f'<a href="/_control/{path}"><code>/_control/{path}</code></a>', says] for path, says in _CONTROL.items()
    ]
    pasted = commands(str(request.base_url).rstrip("/"), platform)
    main = (
        f'{_tiles(platform)}<h2>Practices</h2><div class="card">{table(heads, rows)}</div>'
        + "".join(f"<h2>{escape(title)}</h2><pre>{escape(lines)}</pre>" for title, lines in pasted.items())
        + f'<h2>Control</h2><div class="card">{table(["Path", "Content"], control)}</div>'
    )
    about = _ABOUT.format(now=platform.now().isoformat(" ", "seconds").removesuffix("+00:00"))
    links = {"The interface": "/openapi.json", "vetl.toml": "/vetl.toml"}
    return HTMLResponse(page("Partner platform sandbox", about, links, main))


def _tiles(platform: Platform) -> str:
    rules = ", ".join(rule.kind for rule in platform.faults.rules)
    figures = {
        "practices": f"{len(platform.world.practices):,}",
        "days of history": f"{platform.world.days:,}",
        "requests so far": f"{len(platform.requests):,}",
        "faults": escape(rules or "none"),
    }
    tiles = "".join(f'<div class="tile"><b>{figure}</b>{name}</div>' for name, figure in figures.items())
    return f'<div class="tiles">{tiles}</div>'


def _counts(platform: Platform, practice_id: str) -> list[str]:
    with platform.lock:
        now = platform.now()
        tables = (platform.table(practice_id, name) for name in LISTS)
        return [f"\t{table.snapshot(now, platform.switches).frame.height:,}" for table in tables]
