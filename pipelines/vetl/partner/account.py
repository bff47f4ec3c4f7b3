"""The credentials of a partner, the record that they were accepted, and the sign-in that all requests share.

If credentials never worked, their refusal is final, because another attempt could lock the account. If they worked
before, a short failure of the platform is more likely than a changed password. So a record of accepted credentials
is kept between processes.
"""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from secrets import token_hex
from typing import Any

from pydantic import SecretStr

from vetl.core.errors import ContractBroken, SignInRefused, Transient, VetlError
from vetl.core.list_read import Waiting
from vetl.partner.protocol import Answer, Request, sign_in_request, token_of
from vetl.partner.retries import RetryBudget


@dataclass(frozen=True, slots=True)
class Account:
    """Partner credentials (contract: Authentication). Its `repr` shows only the address.

    `allow_plain_http` permits plain http to another machine, which sends the credentials in clear.
    """

    base_url: str
    username: str = field(repr=False)
    password: SecretStr = field(repr=False)
    role: str = field(repr=False)
    allow_plain_http: bool = field(default=False, repr=False)


_COST = {"n": 2**14, "r": 8, "p": 1, "maxmem": 2**26}
"""A guess costs about 50 ms and 16 MiB, if somebody steals the file."""


class AcceptedCredentials:
    """Remembers the last credentials that were accepted: in memory, and in a record as a salted, slow hash.

    `read` returns the record of earlier processes, `write` replaces it. Without them, or if they raise a
    `VetlError`, only this process remembers.
    """

    def __init__(
        self, read: Callable[[], Any] = lambda: None, write: Callable[[Mapping[str, str]], None] = lambda _: None
    ) -> None:
        self._read, self._write = read, write
        self._is_remembered = False

    def knows(self, account: Account) -> bool:
        """Return whether these credentials were accepted before, by this process or an earlier one."""
        return self._is_remembered or self._in_record(account)

    def remember(self, account: Account) -> None:
        """Note that the platform has accepted these credentials."""
        if self._is_remembered:
            return
        if not self._in_record(account):
            salt = token_hex(16)
            with suppress(VetlError):
                self._write({"salt": salt, "hash": _hash(account, salt)})
        self._is_remembered = True

    def _in_record(self, account: Account) -> bool:
        try:
            record = self._read()
            return hmac.compare_digest(record["hash"], _hash(account, record["salt"]))
        except (VetlError, ValueError, KeyError, TypeError):
            return False


def _hash(account: Account, salt: str) -> str:
    text = [account.base_url, account.username, account.password.get_secret_value(), account.role]
    return hashlib.scrypt(json.dumps(text).encode(), salt=bytes.fromhex(salt), **_COST).hex()


@dataclass(slots=True, eq=False)
class Token:
    """An access token; tokens are compared by identity, because the platform may return the same text twice."""

    text: str = field(repr=False)
    server_time: datetime
    good_for: set[str] = field(default_factory=set[str])
    """Practices for which the platform accepted it."""


class Session:
    """One sign-in for all concurrent requests, and a new one if a token is rejected.

    The sign-in runs as a task of its own, so that other requests still get their token if one request is
    cancelled. A refusal is final at once if the credentials never worked, because a repetition may lock the
    account. If they worked before, it is final after `RetryPolicy.refused_sign_ins` attempts with pauses. Then all
    later requests fail with the same error. `exchange` sends a request and returns its answer. `report` receives
    each attempt and each pause, because all requests wait for the sign-in. `forgotten` are the rejected tokens.
    """

    def __init__(
        self,
        account: Account,
        accepted: AcceptedCredentials,
        exchange: Callable[[Request, int], Awaitable[Answer]],
        budget: Callable[[], RetryBudget],
        sleep: Callable[[float], Awaitable[object]],
    ) -> None:
        self._account, self._accepted = account, accepted
        self._exchange, self._budget, self._sleep = exchange, budget, sleep
        self.report: Callable[[Waiting], None] = lambda _waiting: None
        self._token: Token | None = None
        self._running: asyncio.Task[Token] | None = None
        self._refused: SignInRefused | None = None
        self.forgotten: list[Token] = []

    async def token(self) -> Token:
        """Return the current token, after a sign-in if there is none."""
        return self._token or await self._fresh()

    def latest(self, token: Token) -> Token:
        """Return the newest token, or `token` during a sign-in."""
        return self._token or token

    def forget(self, rejected: Token) -> None:
        """Let the next request sign in, if the current token is the rejected one."""
        if self._token is rejected:
            self._token = None
            self.forgotten.append(rejected)

    async def renew(self, rejected: Token, rest: float = 0) -> Token:
        """Return a token newer than `rejected`; only the first request that needs it signs in.

        No request gets the new token before it is `rest` seconds old.
        """
        # A platform with several servers may know a token a moment later, so the pause comes after the sign-in.
        self.forget(rejected)
        return self._token or await self._fresh(rest)

    async def sign_in(self) -> Token:
        """Sign in now, even if there is a token or an earlier refusal."""
        self._refused = None
        return await self._fresh()

    async def close(self) -> None:
        """Cancel a sign-in for which no request waits."""
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await self._running

    async def _fresh(self, rest: float = 0) -> Token:
        if self._refused is not None:
            raise SignInRefused(str(self._refused))
        if self._running is None:
            self._running = asyncio.create_task(self._run(rest))
            self._running.add_done_callback(_retrieve)
        return await asyncio.shield(self._running)

    async def _run(self, rest: float) -> Token:
        try:
            token = await self._signed_in()
            if rest:
                await self._sleep(rest)
            self._token = token
        except SignInRefused as error:
            self._refused = error
            raise
        finally:
            self._running = None
        return self._token

    async def _signed_in(self) -> Token:
        account, budget = self._account, self._budget()
        request = sign_in_request(account.username, account.password.get_secret_value(), account.role)
        while True:
            self._announce(budget.attempt)
            try:
                answer = await self._exchange(request, budget.attempt)
                text = token_of(answer)
            except (SignInRefused, Transient, ContractBroken) as error:
                if isinstance(error, SignInRefused) and not self._accepted.knows(account):
                    raise
                await budget.wait(error, self._announce)
            else:
                self.report(Waiting())
                self._accepted.remember(account)
                return Token(text, answer.server_time)

    def _announce(self, attempt: int, seconds: float = 0) -> None:
        """Report a line such as `signing in to https://platform.example.com, attempt 2, waits 5 s`."""
        clause = f", attempt {attempt}" if attempt > 1 else ""
        clause += f", waits {seconds:.0f} s" if seconds >= 1 else ""
        self.report(Waiting(f"signing in to {self._account.base_url}{clause}"))


def _retrieve(task: asyncio.Task[Token]) -> None:
    """Read the outcome, so that asyncio does not log an error for which no request waits."""
    if not task.cancelled():
        task.exception()
