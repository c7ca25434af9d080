from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Dict, Mapping, Optional, Type, TypeVar

import httpx

from ._client import with_project
from ._http import Requests, Response, pause
from ._operations import operations
from ._pages import AsyncPages

if TYPE_CHECKING:
    from typing_extensions import Self

Value = TypeVar("Value")


class AsyncClient:
    """Calls the operations of the API by their names, for asyncio."""

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        retries: int = 2,
        timeout: float = 30.0,
        project_id: Optional[str] = None,
        transport: Optional[httpx.AsyncBaseTransport] = None,
    ) -> None:
        self._requests = Requests(base_url, key, retries)
        self._http = httpx.AsyncClient(timeout=timeout, transport=transport)
        self._project_id = project_id

    async def call(self, operation: str, *, project: Optional[str] = None, **call: Any) -> Any:
        """
        Calls an operation by the name that it has in `/openapi.json`, with its `path`, `query` and `body`, and the options of every call.

        Raises FernpostError for a refusal, and httpx.TransportError when there is no response.
        """
        return (await self._send(operation, project, call)).data

    def pages(self, operation: str, **call: Any) -> AsyncPages[Any]:
        """The list that an operation returns."""
        # A search has its cursor where its filters are.
        place = "query" if operations[operation][0] == "GET" else "body"
        return AsyncPages(lambda at: self.call(operation, **{**call, place: {**(call.get(place) or {}), **at}}))

    async def poll(self, check: Callable[[], Awaitable[Value]], is_done: Callable[[Value], bool], every: float) -> Value:
        """Calls `check` every so many seconds until its result is as wanted."""
        while True:
            value = await check()
            if is_done(value):
                return value
            await asyncio.sleep(every)

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()

    async def _send(self, operation: str, project: Optional[str], given: Mapping[str, Any]) -> Response:
        call = self._requests.prepare(operation, **await self._with_project(project, given))
        while True:
            call.attempt += 1
            try:
                outcome = self._requests.outcome(call, await self._http.request(**call.request))
            except httpx.TransportError:
                if call.attempt >= call.attempts:
                    raise
                outcome = pause(call.attempt)
            if isinstance(outcome, Response):
                return outcome
            await asyncio.sleep(outcome)

    async def _with_project(self, place: Optional[str], given: Mapping[str, Any]) -> Dict[str, Any]:
        if place is None:
            return dict(given)
        if self._project_id is None:
            projects = await self.call("listProjects")
            if not projects:
                raise ValueError("The key belongs to no project.")
            self._project_id = str(projects[0]["id"])
        return with_project(place, self._project_id, given)


class AsyncResource:
    """The methods of one kind of resource. Each takes its ID, then its filters or its body, then the options of the call."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
