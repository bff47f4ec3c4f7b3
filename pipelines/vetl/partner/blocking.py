"""The interface without `await`, for notebooks: every method of `PartnerPractice`, run on a separate thread.

with BlockingPractice(account, "loc-001") as practice:
    for page in practice.staff_tasks(status="pending"):
        ...
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from inspect import iscoroutine
from types import TracebackType
from typing import Any, Self

from vetl.partner.account import Account, Limits
from vetl.partner.client import PartnerClient
from vetl.partner.lists import ListParameters
from vetl.partner.practice import PartnerPractice


class BlockingPractice:
    """A `PartnerPractice` whose methods block; its lists are plain iterators. Close it, or use it with `with`."""

    def __init__(
        self,
        account: Account,
        practice_id: str,
        limits: Limits | None = None,
        *,
        names: Mapping[str, ListParameters] | None = None,
    ) -> None:
        # A notebook already runs an event loop in its thread, which would wait for itself.
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="vetl-partner", daemon=True)
        self._thread.start()
        try:
            self._client = self._run(_opened(account, limits))
        except BaseException:
            self._end()
            raise
        self._practice = PartnerPractice(self._client, practice_id, names=names)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any method of PartnerPractice
        if name.startswith("_"):
            raise AttributeError(name)
        method: Any = getattr(self._practice, name)
        if not callable(method):
            return method

        def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the method of PartnerPractice
            answer: Any = method(*args, **kwargs)
            return self._run(answer) if iscoroutine(answer) else self._iterate(answer)

        return call

    def __dir__(self) -> list[str]:
        methods = [name for name in dir(self._practice) if not name.startswith("_")]
        return sorted({*super().__dir__(), *methods})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close connections and end the thread. A second call does nothing."""
        if self._thread.is_alive():
            self._run(self._client.__aexit__(None, None, None))
            self._end()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 - any result
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def _iterate(self, pages: AsyncIterator[Any]) -> Iterator[Any]:
        async def next_page() -> tuple[Any, bool]:
            try:
                return await anext(pages), True
            except StopAsyncIteration:
                return None, False

        while True:
            page, more = self._run(next_page())
            if not more:
                return
            yield page


async def _opened(account: Account, limits: Limits | None) -> PartnerClient:
    """Return a client that is made on the event loop that runs it."""
    return PartnerClient(account, limits)
