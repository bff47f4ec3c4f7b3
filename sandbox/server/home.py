"""A page for people: what is inside, and how to ask for it."""

from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from sandbox.platform import Platform
from sandbox.server.auth import platform_of
from sandbox.world import LISTS

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Partner platform sandbox</title>
<style>body{{font:16px/1.5 system-ui;margin:2rem auto;max-width:60rem}}
td,th{{text-align:left;padding:.2rem 1rem .2rem 0}}
td.n{{text-align:right}}code{{background:#eee;padding:0 .3rem}}</style></head><body>
<h1>Partner platform sandbox</h1>
<p>A made-up veterinary practice platform. Its clock stands at <b>{now}</b>. Nobody in here is real.</p>
<table><tr><th>Practice</th><th>Id</th><th>Time zone</th>{heads}</tr>{rows}</table>
<p>Sign in at <code>POST /services/user/v1/auth/sign-in</code>; the lists are below
<code>/services/core/open_api/v1</code>;
clock, switches, faults and the truth below <code>/_control</code>.</p>
</body></html>"""
_COUNTED = 20


async def home(request: Request) -> Response:
    """Rows of each list for the first practices; the others are only drawn when they are asked for."""
    platform = platform_of(request)
    heads = "".join(f"<th>{name}</th>" for name in LISTS)
    rows = "".join(
        f"<tr><td>{escape(practice.name)}</td><td>{practice.id}</td><td>{practice.time_zone}</td>"
        + (_counts(platform, practice.id) if place < _COUNTED else "")
        + "</tr>"
        for place, practice in enumerate(platform.world.practices.values())
    )
    return HTMLResponse(_PAGE.format(now=platform.now().isoformat(" ", "seconds"), heads=heads, rows=rows))


def _counts(platform: Platform, practice_id: str) -> str:
    with platform.lock:
        now = platform.now()
        tables = (platform.table(practice_id, name) for name in LISTS)
        return "".join(
            f'<td class="n">{table.snapshot(now, platform.switches).frame.height:,}</td>' for table in tables
        )
