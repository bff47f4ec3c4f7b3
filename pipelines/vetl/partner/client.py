"""The client of the partner interface. It returns whole answers or raises one of vetl's errors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import partial
from http import HTTPStatus
from types import TracebackType
from typing import Self, TypeVar

import structlog

from vetl.core import errors
from vetl.core.list_read import Waiting
from vetl.core.pages import Page, Row
from vetl.partner import protocol
from vetl.partner.account import AcceptedCredentials, Account, Session, Token
from vetl.partner.answers import Decoded, loggable_query, user_agent
from vetl.partner.limits import Limiters, Limits, RateLimiter, ServerClock, Timing
from vetl.partner.lookups import REST_OF_WITHHELD, Answers, Lookup
from vetl.partner.protocol import Answer, CsvAnswer, Decipher, Query, Request
from vetl.partner.retries import Deadline, RetryBudget, RetryPolicy
from vetl.partner.wire import Transport, Wire

__all__ = ["Account", "Counters", "Limits", "PartnerClient", "Timing"]

T = TypeVar("T")

SIGN_IN = "sign-in"
UNADDRESSABLE = frozenset({"", ".", ".."})  # with them the address of a record would be another address

_log = structlog.stdlib.get_logger("vetl.partner")


@dataclass(slots=True)
class Counters:
    """HTTP requests sent, and how many of them repeated an earlier one, got a 429, or signed in.

    `bytes` is the size of their answers, decompressed.
    """

    requests: int = 0
    retries: int = 0
    limited: int = 0
    sign_ins: int = 0
    bytes: int = 0

    def __add__(self, other: "Counters") -> "Counters":
        return Counters(*(getattr(self, item.name) + getattr(other, item.name) for item in fields(self)))


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
    ) -> None:
        self.total = Counters()
        self._traffic: dict[str, dict[str, Counters]] = {}
        self._account = account
        self._timing = timing or Timing()
        limits = limits or Limits()
        self._wire = Wire(account, limits, transport)
        self.clock = ServerClock(self._timing)
        self._deadline = Deadline(retry_policy or RetryPolicy(), self._timing)
        self._limiters = Limiters(limits, self._timing)
        budget = partial(RetryBudget, SIGN_IN, self._deadline)
        self._session = Session(
            account, accepted or AcceptedCredentials(), self._exchange_sign_in, budget, self._timing.sleep
        )
        self._common_headers = {"User-Agent": user_agent(), "Accept-Encoding": "gzip", "Cache-Control": "no-cache"}
        self._repairs_told: set[str] = set()
        self._not_found: set[tuple[str, str]] = set()
        self._failing: dict[tuple[str, str], bool] = {}
        """The lists on which the platform failed; true if it has answered another request for the list since."""

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

    @property
    def tokens_never_accepted(self) -> int:
        """Return how many tokens were rejected before any request with them was accepted."""
        return sum(not token.good_for for token in self._session.forgotten)

    def report_sign_in(self, report: Callable[[Waiting], None]) -> None:
        """Call `report` from now on with the cause of each wait of a sign-in, and when the sign-in has ended."""
        self._session.report = report

    async def sign_in(self) -> datetime:
        """Sign in and return the platform's time (aware UTC).

        Raise `SignInRefused` if the credentials are not accepted; `ConfigurationError` if there is no platform at
        `base_url`; `Unreachable` if it does not answer.
        """
        return (await self._session.sign_in()).server_time

    async def page(
        self,
        practice_id: str,
        path: str,
        query: Query,
        *,
        check: Callable[[Page], None] = lambda _: None,
        divisible: bool = False,
    ) -> Page:
        """Return one page of a JSON list. `path` is relative to `/services/core/open_api/v1`.

        If `check` raises `TornAnswer`, the page is read again, like any answer that is not whole. If less can be
        requested instead (`divisible`), an answer that is too slow is asked for twice at most, and so is a 5xx
        after another request for this list got one in all of its attempts while others are answered.
        """
        plain = path in protocol.PLAIN_LISTS

        def decipher(answer: Answer, requests: int) -> Page:
            page = protocol.page(answer, self._json(answer), plain=plain, requests=requests)
            check(page)
            return page

        request = replace(protocol.list_request(path, query), divisible=divisible)
        return await self._send_list(practice_id, request, decipher)

    async def calls(
        self, practice_id: str, query: Query, *, parse: Callable[[CsvAnswer], T], divisible: bool = False
    ) -> T:
        """Return one page of the phone-call CSV. If `parse` raises `TornAnswer`, the page is read again."""

        def decipher(answer: Answer, requests: int) -> T:
            return parse(protocol.csv_page(answer, requests=requests))

        request = replace(protocol.calls_request(query), divisible=divisible)
        return await self._send_list(practice_id, request, decipher)

    async def _send_list(self, practice_id: str, request: Request, decipher: Decipher[T]) -> T:
        """Send the request, a second time after a first 404, which may be a gateway's and not the list's."""
        asked = practice_id, request.path
        try:
            value = await self._send(practice_id, request, decipher)
        except errors.NotFound:
            if asked in self._not_found:
                raise
            self._not_found.add(asked)
            value = await self._send(practice_id, request, decipher)
        except errors.Failing:
            self._failing.setdefault(asked, False)
            raise
        self._not_found.discard(asked)
        if asked in self._failing:
            self._failing[asked] = True
        return value

    async def record(
        self, practice_id: str, path: str, record_id: str, *, final: tuple[type[errors.VetlError], ...] = ()
    ) -> Row | None:
        """Return one record by id, `None` if the platform does not have it (404, 410, or no `data`).

        Errors of the types `final` are raised without another attempt.
        """
        if record_id in UNADDRESSABLE:
            return None

        def decipher(answer: Answer, _: int) -> Row | None:
            document = self._json(answer)
            return protocol.record(answer, document) if protocol.payload(answer, document) else None

        try:
            return await self._send(practice_id, protocol.record_request(path, record_id), decipher, final=final)
        except errors.NotFound as error:
            if error.status in (404, 410):
                return None
            raise

    async def records(self, practice_id: str, path: str, ids: Sequence[str]) -> Answers:
        """Return the answer for each id: its row, `None` if there is no such row, or the error of its request.

        `Lookup` says which requests are repeated.
        """

        async def renew() -> None:
            await self._timing.sleep(REST_OF_WITHHELD)
            await self._session.renew(await self._session.token())

        return await Lookup(partial(self.record, practice_id, path), renew).look_up(ids)

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
        that of the reads. Raise `RequestRefused` if the platform refuses; `fields` has every field that its
        validation names; `PracticeRefused`, `Transient` or `ContractBroken` if the platform may or may not have
        made the change; the message says so.
        """

        def read(answer: Answer, _: int) -> T:
            if request.method == "DELETE":
                protocol.done(answer)
                return decipher(answer.status, {})
            return decipher(answer.status, protocol.record(answer, self._json(answer)))

        limiter = self._limiters.of(practice_id, per_minute) if per_minute else None
        return await self._send(practice_id, request, read, limiter)

    async def _send(
        self,
        practice_id: str,
        request: Request,
        decipher: Decipher[T],
        own_limiter: RateLimiter | None = None,
        *,
        final: tuple[type[errors.VetlError], ...] = (),
    ) -> T:
        """Send the request until `decipher` accepts an answer, the attempts are used up or an error is `final`."""
        limiter = own_limiter or self._limiters.of(practice_id)
        label = f"{request.method} {request.name} for practice {practice_id}"
        fails_on_some = self._failing.get((practice_id, request.path), False)
        hopeless = (errors.Failing if fails_on_some else errors.TooSlow,) if request.divisible else ()
        budget = RetryBudget(label, self._deadline, hopeless)
        while True:
            self._deadline.check(budget.label)
            token = await self._session.token()
            try:
                async with limiter.passing():
                    token = self._session.latest(token)  # it may have waited long in the limiter
                    answer, token = await self._accepted(request, budget, practice_id, token, limiter)
                    value = decipher(answer, budget.attempt)
                    token.good_for.add(practice_id)
                    return value
            except (errors.Transient, errors.ContractBroken, errors.PracticeRefused) as error:
                if not request.repeatable:
                    if isinstance(error, errors.TokenRejected):
                        self._session.forget(token)
                    error.add_note("; the change may have been made, so check before you send it again")
                    raise
                if isinstance(error, final):
                    raise
                await self._before_the_next(error, practice_id, budget, limiter, token)

    async def _accepted(
        self, request: Request, budget: RetryBudget, practice_id: str, token: Token, limiter: RateLimiter
    ) -> tuple[Answer, Token]:
        """Return the answer to the request and its token, after a new sign-in if a token is rejected.

        It keeps its place meanwhile: some tokens are good for a few uses, which others would take.
        """
        while True:
            try:
                return await self._ask(request, budget, practice_id, token), token
            except errors.TokenRejected as error:
                if not request.repeatable:
                    raise
                if budget.rejected:  # a first 401 means that the token has expired, others that it was used up
                    limiter.halve()
                token = await self._renewed(error, budget, token)

    async def _before_the_next(
        self,
        error: errors.Transient | errors.ContractBroken | errors.PracticeRefused,
        practice_id: str,
        budget: RetryBudget,
        limiter: RateLimiter,
        token: Token,
    ) -> None:
        """Pause or sign in, as the failure demands; raise `error` if the request may not be sent again."""
        # Some platforms answer an expired token with 403, a redirect to their login page, or `success: false`: a
        # token that was accepted before is renewed once, after a 403 at once, else if the answer comes twice.
        token = self._session.latest(token)
        may_renew = not budget.renewed and practice_id in token.good_for
        if isinstance(error, errors.PracticeRefused):
            if error.status != HTTPStatus.FORBIDDEN or not may_renew:
                raise error
            budget.attempt += 1
        elif isinstance(error, errors.RateLimited) or getattr(error, "retry_after", None):
            limiter.pause(budget.pause_after(error, successes=limiter.successes))
            return
        else:
            comes_twice = budget.attempt > 1
            await budget.wait(error)
            if not (isinstance(error, errors.Withheld) and comes_twice and may_renew):
                return
        budget.renewed = True
        await self._session.renew(token)

    async def _renewed(self, error: errors.TokenRejected, budget: RetryBudget, token: Token) -> Token:
        """Sign in for the next attempt. All requests that got a 401 with this token share one sign-in."""
        try:
            pause = budget.pause_after(error, token.good_for)
        except errors.TokenRejected:
            raise errors.PracticeRefused(
                f"{budget.label}: 401 after each of {budget.rejected - 1} fresh sign-ins;"
                " are the credentials valid for it?",
                status=401,
            ) from None
        return await self._session.renew(token, pause)

    async def _exchange_sign_in(self, request: Request, attempt: int) -> Answer:
        self._deadline.check(SIGN_IN)
        self._count(attempt, self.total)
        self.total.sign_ins += 1
        return await self._exchange(request, SIGN_IN, {}, ())

    async def _ask(self, request: Request, budget: RetryBudget, practice_id: str, token: Token) -> Answer:
        """Send the request once. Return a 2xx answer, or raise the error of another status."""
        headers = {"Authorization": f"Bearer {token.text}", "X-Client-Id": practice_id}
        account = self._account
        counters = self._traffic.setdefault(practice_id, {}).setdefault(request.path, Counters())
        secrets = (token.text, account.username, account.password.get_secret_value())
        self._count(budget.attempt, self.total, counters)
        answer = await self._exchange(request, budget.label, headers, secrets)
        counters.bytes += len(answer.body)
        if not protocol.accepted(answer):
            error = protocol.refusal(answer)
            for limited in (self.total, counters):
                limited.limited += isinstance(error, errors.RateLimited)
            raise error
        return answer

    async def _exchange(
        self, request: Request, label: str, headers: dict[str, str], secrets: tuple[str, ...]
    ) -> Answer:
        sent = {**self._common_headers, "Accept": request.accept, **headers}
        if request.body is not None:
            sent["Content-Type"] = "application/json"
        begun, status, body = self._timing.monotonic(), 0, b""
        try:
            status, received, body = await self._wire.exchange(request, sent, label, patience=self._deadline.left)
            self.total.bytes += len(body)
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
            _log.warning("characters_replaced", asked=answer.label, cause="text that is not valid JSON in UTF-8")
        return document

    @staticmethod
    def _count(attempt: int, *all_counters: Counters) -> None:
        for counters in all_counters:
            counters.requests += 1
            counters.retries += attempt > 1
