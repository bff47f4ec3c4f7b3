"""The lines that the platform prints once it answers: its address, its accounts, and commands to begin with."""

import json
from textwrap import indent
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from vetl_sandbox.platform import Platform
from vetl_sandbox.server.auth import platform_of
from vetl_sandbox.server.handle import Handle

_NAMED = 5
_TEXT = """\
A partner platform is at {base_url}
  contents        {base_url}/
  the interface   {base_url}/openapi.json
  username        {username}
  password        {password}
  role            {role}
  webhook secret  {webhook_secret}
  practices       {first}
{others}"""
_CURL = """\
TOKEN=$(curl -s {base_url}/services/user/v1/auth/sign-in -H 'Content-Type: application/json' \\
  -d '{credentials}' |
  sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
curl -s '{base_url}/services/core/open_api/v1/phone_calls?per_page=2' \\
  -H "Authorization: Bearer $TOKEN" -H 'X-Client-Id: {practice}'
"""
_VETL = """\
curl -s {base_url}/vetl.toml -o vetl.toml
export VETL_PARTNER__USERNAME={username} VETL_PARTNER__PASSWORD={password}
export VETL_PARTNER__ROLE={role} VETL_WEBHOOKS__SECRETS={webhook_secret}
vetl run
"""
_PRACTICE = """
[[practices]]
id = {id}
name = {name}
time_zone = {zone}
history_start = {since}
"""


def greeting(handle: Handle, *, as_json: bool) -> str:
    """Return everything that a client needs: as one line of JSON, or for people, with commands to paste."""
    description: dict[str, Any] = handle.describe()
    if as_json:
        return json.dumps(description)
    first, *others = [
        f"{practice['id']}  {practice['time_zone']}  {practice['name']}"
        for practice in description["practices"][:_NAMED]
    ]
    more = len(description["practices"]) - _NAMED
    others += [f"and {more} more"] if more > 0 else []
    text = _TEXT.format(**description, first=first, others="".join(f"{'':18}{line}\n" for line in others))
    pasted = commands(handle.base_url, handle.platform)
    return text + "".join(f"\n{title}:\n{indent(lines, '  ')}" for title, lines in pasted.items())


def commands(base_url: str, platform: Platform) -> dict[str, str]:
    """Return lines to paste into a shell, by their purpose."""
    partner = platform.credentials
    account = {name: getattr(partner, name) for name in ("username", "password", "role", "webhook_secret")}
    credentials = json.dumps({name: account[name] for name in ("username", "password", "role")})
    practice = next(iter(platform.world.practices))
    return {
        "With curl": _CURL.format(base_url=base_url, credentials=credentials, practice=practice),
        "With vetl, in an empty folder": _VETL.format(base_url=base_url, **account),
    }


async def vetl_toml(request: Request) -> Response:
    """Return settings with which vetl reads every practice of this platform."""
    platform = platform_of(request)
    world = platform.world
    practices = (
        _PRACTICE.format(
            id=json.dumps(practice.id),
            name=json.dumps(practice.name),
            zone=json.dumps(platform.told_zone(practice)),
            since=world.since(practice).date().isoformat(),
        )
        for practice in world.practices.values()
    )
    partner = f"[partner]\nbase_url = {json.dumps(str(request.base_url).rstrip('/'))}\n"
    return PlainTextResponse(partner + "".join(practices), media_type="application/toml")
