"""The client of the partner interface. It returns whole answers or raises one of vetl's errors."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

import structlog

from vetl.core.errors import (
    ContractBroken,
    NotFound,
    PracticeRefused,
    RateLimited,
    TokenRejected,
    Transient,
    Unreachable,
)
from vetl.core.pages import CallsPage, Page, Row
from vetl.core.results import Waiting
from vetl.partner import protocol, refusals
from vetl.partner.account import Account, Limits
from vetl.partner.bodies import Decoded, memory_of_values
from vetl.partner.counters import Counters
from vetl.partner.credential_cache import AcceptedCredentials
from vetl.partner.headers import user_agent
from vetl.partner.limits import Limiters, OnceMore, RateLimiter
from vetl.partner.pace import Pace
from vetl.partner.protocol import (
    Answer,
    CsvAnswer,
    Decipher,
    Query,
    Request,
    Take,
    accept,
    deciphered,
    uncounted,
)
from vetl.partner.redaction import loggable_query
from vetl.partner.retry_policy import RetryBudget, RetryPolicy, WaitBudget
from vetl.partner.signin import Session, SignIn, Token
from vetl.partner.timing import ServerClock, Timing
from vetl.partner.wire import Transport, Wire

__all__ = ["Account", "Counters", "Limits", "PartnerClient", "Timing", "accept"]

T = TypeVar("T")

SIGN_IN = "sign-in"
_FAILURES = 429  # statuses from here on are repeated within a budget
_UNADDRESSABLE = frozenset({"", ".", ".."})  # with them the address of a record would be another address

_log = structlog.stdlib.get_logger("vetl.partner")


class PartnerClient:
    """Reads the partner interface for any number of practices, within limits, and repeats interrupted requests.

    Every read may also raise `SignInRefused`, `PracticeRefused`, `RequestRefused` at once, and
    `Unreachable`, `RateLimited`, `TornAnswer`, `ContractBroken` when their attempts are used up.
    """

    def __init__(
        self,
        account: Account,
        limits: Limits | None = None,
        *,
        transport: Transport | None = None,
        timing: Timing | None = None,
        retry_policy: RetryPolicy | None = None,
        accepted: AcceptedCredentials | None = None,
        pace: Pace | None = None,
    ) -> None:
        self.total = Counters()
        self._traffic: dict[str, dict[str, Counters]] = {}
        self._account = account
        self._limits = limits or Limits()
        self._timing = timing or Timing()
        self._wire = Wire(account, self._limits, transport)
        self._pace = pace
        self.clock = ServerClock(self._timing)
        self._waits = WaitBudget(retry_policy or RetryPolicy(), self._timing)
        self._limiters = Limiters(self._limits, self._waits)
        lone, budget = partial(self._limiters.lone, SIGN_IN), partial(RetryBudget, SIGN_IN, SIGN_IN, self._waits)
        self._sign_in = SignIn(account, accepted or AcceptedCredentials(), self._exchange_sign_in, budget, lone)
        self._session = Session(self._sign_in)
        self._served: set[str] = set()
        self._common_headers = {"User-Agent": user_agent(), "Accept-Encoding": "gzip"}
        self._repairs_told: set[str] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()
        await self._wire.close()

    def traffic(self, practice_id: str, path: str | None = None) -> Counters:
        """Return the counts of the requests so far for one practice, or for one path of it."""
        paths = self._traffic.get(practice_id, {})
        return sum(paths.values(), Counters()) if path is None else paths.get(path, Counters())

    def report_sign_in(self, report: Callable[[Waiting], None]) -> None:
        """Call `report` from now on with the cause of each wait of a sign-in, and when the sign-in has ended."""
        self._sign_in.report = report

    async def sign_in(self) -> datetime:
        """Sign in and return the platform's time (aware UTC).

        Raises:
            SignInRefused: the credentials are not accepted.
            ConfigurationError: there is no platform at `base_url`.
            Unreachable: it does not answer.
        """
        return (await self._session.sign_in()).server_time

    async def page(
        self,
        practice_id: str,
        path: str,
        query: Query,
        *,
        check: Callable[[Page], None] = accept,
        take: Take = uncounted,
    ) -> Page:
        """Return one page of a JSON list. `path` is relative to `/services/core/open_api/v1`.

        If `check` raises `TornAnswer`, the page is read again, like any answer that is not whole. `take` counts
        the memory that the answer takes.

        Raises:
            NoRoom: `take` has no room for it.
        """
        plain = path in protocol.PLAIN_LISTS

        def decipher(answer: Answer, requests: int) -> Page:
            take(memory_of_values(answer.body))
            page = protocol.page(answer, self._json(answer), plain=plain, requests=requests)
            check(page)
            return page

        return await self._send(practice_id, replace(protocol.list_request(path, query), take=take), decipher)

    async def calls(
        self,
        practice_id: str,
        query: Query,
        *,
        parse: Callable[[CsvAnswer], CallsPage],
        take: Take = uncounted,
    ) -> CallsPage:
        """Return one page of the phone-call CSV. If `parse` raises `TornAnswer`, the page is read again.

        Raises:
            NoRoom: `take` has no room for it.
        """

        def decipher(answer: Answer, requests: int) -> CallsPage:
            return parse(protocol.csv_page(answer, requests=requests))

        return await self._send(practice_id, replace(protocol.calls_request(query), take=take), decipher)

    async def record(self, practice_id: str, path: str, record_id: str, *, take: Take = uncounted) -> Row | None:
        """Return one record by id, `None` if the platform does not have it (404, 410).

        Raises:
            NoRoom: `take` has no room for it.
        """
        if record_id in _UNADDRESSABLE:
            return None

        def decipher(answer: Answer, _: int) -> Row:
            take(memory_of_values(answer.body))
            return protocol.record(answer, self._json(answer))

        request = replace(protocol.record_request(path, record_id), take=take)
        try:
            return await self._send(practice_id, request, decipher)
        except NotFound as error:
            if error.status in (404, 410):
                return None
            raise

    async def write(
        self,
        practice_id: str,
        request: Request,
        decipher: Callable[[int, Row], T],
        *,
        per_minute: int | None = None,
    ) -> T:
        """Send a request that changes data. `decipher` gets status and `data` of a success, `{}` after a deletion.

        A request that is not `repeatable` is sent once, whatever the answer: a platform or a proxy may answer 401,
        403 or 429 after it has made the change. `per_minute` is a separate quota (contract: Limits), apart from
        that of the reads.

        Raises:
            RequestRefused: the platform refuses; `fields` has every field that its validation names.
            PracticeRefused, Transient, ContractBroken: the platform may or may not have made the change; the
                message says so.
        """

        def read(answer: Answer, _: int) -> T:
            if request.method == "DELETE":
                protocol.done(answer)
                return decipher(answer.status, {})
            return decipher(answer.status, protocol.record(answer, self._json(answer)))

        limiter = self._limiters.of(practice_id, per_minute) if per_minute else None
        return await self._send(practice_id, request, read, limiter)

    async def _send(
        self, practice_id: str, request: Request, decipher: Decipher[T], own_limiter: RateLimiter | None = None
    ) -> T:
        """Send the request until `decipher` accepts an answer or the attempts are used up."""
        limiter = own_limiter or self._limiters.of(practice_id)
        label = f"{request.method} {request.name} for practice {practice_id}"
        retry_budget = RetryBudget(label, practice_id, self._waits)
        while True:
            token = await self._session.token()
            try:
                async with limiter.passing() as once_more:
                    token = self._session.latest(token)  # it may have waited long in the limiter
                    return await self._answered(practice_id, request, decipher, retry_budget, token, once_more)
            except (Transient, ContractBroken, PracticeRefused) as error:
                if isinstance(error, RateLimited):
                    self.total.limited += 1
                    self._counters(practice_id, request).limited += 1
                if not request.repeatable:
                    if isinstance(error, TokenRejected):
                        self._session.forget(token)
                    error.add_note("; the change may have been made, so check before you send it again")
                    raise
                if isinstance(error, PracticeRefused):
                    raise
                if isinstance(error, TokenRejected):
                    await self._replay(error, retry_budget, token)
                else:
                    await retry_budget.wait(error)

    async def _answered(
        self,
        practice_id: str,
        request: Request,
        decipher: Decipher[T],
        retry_budget: RetryBudget,
        token: Token,
        once_more: OnceMore,
    ) -> T:
        """Return the result of `decipher` for the answer. A token that was accepted before is renewed at once."""
        while True:
            self._count(retry_budget.attempt, self._counters(practice_id, request))
            retry_budget.begin()
            try:
                answers = [await self._ask(request, retry_budget.label, practice_id, token)]
                self._served.add(practice_id)
                token.good_for.add(practice_id)
                return deciphered(decipher, answers, retry_budget.attempt)
            except TokenRejected as error:
                token.is_spent |= practice_id in token.good_for
                error.is_used_up = partial(self._is_used_up, practice_id, token)
                if not request.repeatable or not error.is_used_up():
                    raise
                again = retry_budget.rejected > 0  # a first 401 means that the token has expired
                token = await self._replay(error, retry_budget, token)
                if again:
                    await once_more()
            except PracticeRefused:
                # Some platforms answer 403 to an expired token: a token that was accepted before is renewed once.
                if not request.repeatable or retry_budget.forbidden or practice_id not in token.good_for:
                    raise
                retry_budget.forbidden = True
                retry_budget.attempt += 1
                token = await self._session.renew(token)

    def _is_used_up(self, practice_id: str, token: Token) -> bool:
        """Return whether other requests have used the token up. Their answers may come after the 401."""
        return token.is_spent or (practice_id in self._served and bool(token.good_for))

    async def _replay(self, error: TokenRejected, retry_budget: RetryBudget, token: Token) -> Token:
        """Sign in for the next attempt. All requests that got a 401 with this token share one sign-in."""
        try:
            await retry_budget.wait(error)
        except TokenRejected:
            raise PracticeRefused(
                f"{retry_budget.label}: 401 after each of {retry_budget.rejected - 1} fresh sign-ins;"
                " are the credentials valid for it?",
                status=401,
            ) from None
        return await self._session.renew(token)

    async def _exchange_sign_in(self, request: Request, attempt: int) -> Answer:
        self._count(attempt)
        self.total.sign_ins += 1
        return await self._exchange(request, SIGN_IN, SIGN_IN, {}, ())

    async def _ask(self, request: Request, label: str, practice_id: str, token: Token) -> Answer:
        """Send the request once. Return a 2xx answer, or raise the error of another status."""
        headers = {"Authorization": f"Bearer {token.text}", "X-Client-Id": practice_id}
        account = self._account
        secrets = (token.text, account.username, account.password.get_secret_value())
        answer = await self._exchange(request, label, practice_id, headers, secrets)
        self._counters(practice_id, request).bytes += len(answer.body)
        if not refusals.accepted(answer):
            error = refusals.refusal(answer)
            del answer  # the traceback of the error keeps this frame
            raise error
        return answer

    async def _exchange(
        self, request: Request, label: str, who: str, headers: dict[str, str], secrets: tuple[str, ...]
    ) -> Answer:
        sent = {**self._common_headers, "Accept": request.accept, **headers}
        if request.body is not None:
            sent["Content-Type"] = "application/json"
        async with self._pace.turn() if self._pace else nullcontext():
            begun, status, body = self._timing.monotonic(), 0, b""
            try:
                patience = self._waits.left(who)
                status, received, body = await self._wire.exchange(request, sent, label, patience=patience)
                self.total.bytes += len(body)
                fits = self._waits.spend_answer(who, begun, len(body))
                # The answer to a change counts in any case, and other failures end by their own limits.
                if not fits and request.method == "GET" and status < _FAILURES:
                    size, body = len(body), b""  # the traceback of the error keeps this frame
                    raise Unreachable(f"{label}: the answer was too slow ({size} bytes)")
            finally:
                if structlog.is_configured():  # without a configuration, structlog prints into a notebook
                    took = self._timing.monotonic() - begun
                    measures = {"status": status, "bytes": len(body), "seconds": took}
                    _log.debug("request", asked=label, query=loggable_query(request.target), **measures)
        return Answer(label, status, received, body, self.clock.read(received.get("date")), secrets)

    def _json(self, answer: Answer) -> Decoded:
        """Return the JSON of an answer. Log once per request name that characters had to be replaced."""
        document = answer.json()
        if document.repaired and answer.label not in self._repairs_told:
            self._repairs_told.add(answer.label)
            _log.warning("characters_replaced", asked=answer.label, cause="text that is not valid UTF-8")
        return document

    def _counters(self, practice_id: str, request: Request) -> Counters:
        return self._traffic.setdefault(practice_id, {}).setdefault(request.path, Counters())

    def _count(self, attempt: int, *path: Counters) -> None:
        for counters in (self.total, *path):
            counters.requests += 1
            counters.retries += attempt > 1
