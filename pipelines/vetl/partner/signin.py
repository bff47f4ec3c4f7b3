"""The access token, and the sign-in that all requests share."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from vetl.core.errors import ContractBroken, SignInRefused, Transient
from vetl.core.results import Waiting
from vetl.partner.account import AcceptedCredentials, Account
from vetl.partner.limits import RetryBudget
from vetl.partner.protocol import Answer, Request, sign_in_request, token_of


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
    each attempt and each pause, because all requests wait for the sign-in.
    """

    def __init__(
        self,
        account: Account,
        accepted: AcceptedCredentials,
        exchange: Callable[[Request, int], Awaitable[Answer]],
        budget: Callable[[], RetryBudget],
    ) -> None:
        self._account, self._accepted = account, accepted
        self._exchange, self._budget = exchange, budget
        self.report: Callable[[Waiting], None] = lambda _waiting: None
        self._token: Token | None = None
        self._running: asyncio.Task[Token] | None = None
        self._refused: SignInRefused | None = None

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

    async def renew(self, rejected: Token) -> Token:
        """Return a token newer than `rejected`; only the first request that needs it signs in."""
        self.forget(rejected)
        return await self.token()

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

    async def _fresh(self) -> Token:
        if self._refused is not None:
            raise SignInRefused(str(self._refused))
        if self._running is None:
            self._running = asyncio.create_task(self._run())
            self._running.add_done_callback(_retrieve)
        return await asyncio.shield(self._running)

    async def _run(self) -> Token:
        try:
            self._token = await self._signed_in()
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
