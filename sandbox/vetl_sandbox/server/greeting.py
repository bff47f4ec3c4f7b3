"""The lines that the platform prints once it answers: its address, its accounts, and commands to begin with."""

import json
from textwrap import indent

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from vetl_sandbox.platform import Platform
from vetl_sandbox.server.auth import platform_of

_NAMED = 5
_TEXT = """\
A partner platform is at {base_url}
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


def greeting(base_url: str, platform: Platform) -> str:
    """Return everything that a client needs, for people, with commands to paste."""
    description = platform.describe(base_url)
    practices = description["practices"]
    first, *others = [
        f"{practice['id']}  {practice['time_zone']}  {practice['name']}" for practice in practices[:_NAMED]
    ]
    more = len(practices) - _NAMED
    others += [f"and {more} more"] if more > 0 else []
    credentials = json.dumps({name: description[name] for name in ("username", "password", "role")})
    curl = _CURL.format(base_url=base_url, credentials=credentials, practice=practices[0]["id"])
    return (
        _TEXT.format(**description, first=first, others="".join(f"{'':18}{line}\n" for line in others))
        + f"\nWith curl:\n{indent(curl, '  ')}"
        + f"\nWith vetl, in an empty folder:\n{indent(_VETL.format(**description), '  ')}"
    )


async def welcome(request: Request) -> Response:
    """Return the greeting."""
    return PlainTextResponse(greeting(_address(request), platform_of(request)))


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


def _address(request: Request) -> str:
    return str(request.base_url).rstrip("/")
