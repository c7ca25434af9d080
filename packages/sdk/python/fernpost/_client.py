from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional, Type, TypeVar

import httpx

from ._http import Requests, Response, pause
from ._operations import operations
from ._pages import Page

if TYPE_CHECKING:
    from typing_extensions import Self

Value = TypeVar("Value")


class Client:
    """Calls the operations of the API by their names."""

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        retries: int = 2,
        timeout: float = 30.0,
        project_id: Optional[str] = None,
        transport: Optional[httpx.BaseTransport] = None,
    ) -> None:
        self._requests = Requests(base_url, key, retries)
        self._http = httpx.Client(timeout=timeout, transport=transport)
        self._project_id = project_id

    def call(self, operation: str, *, project: Optional[str] = None, **call: Any) -> Any:
        """
        Calls an operation by the name that it has in `/openapi.json`, with its `path`, `query` and `body`, and the options of every call.

        Raises FernpostError for a refusal, and httpx.TransportError when there is no response.
        """
        return self._send(operation, project, call).data

    def pages(self, operation: str, **call: Any) -> Page[Any]:
        """The list that an operation returns."""
        # A search has its cursor where its filters are.
        place = "query" if operations[operation][0] == "GET" else "body"
        return Page(lambda at: self.call(operation, **{**call, place: {**(call.get(place) or {}), **at}}))

    def poll(self, check: Callable[[], Value], is_done: Callable[[Value], bool], every: float) -> Value:
        """Calls `check` every so many seconds until its result is as wanted."""
        while True:
            value = check()
            if is_done(value):
                return value
            time.sleep(every)

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def _send(self, operation: str, project: Optional[str], given: Mapping[str, Any]) -> Response:
        call = self._requests.prepare(operation, **self._with_project(project, given))
        while True:
            call.attempt += 1
            try:
                outcome = self._requests.outcome(call, self._http.request(**call.request))
            except httpx.TransportError:
                if call.attempt >= call.attempts:
                    raise
                outcome = pause(call.attempt)
            if isinstance(outcome, Response):
                return outcome
            time.sleep(outcome)

    def _with_project(self, place: Optional[str], given: Mapping[str, Any]) -> Dict[str, Any]:
        if place is None:
            return dict(given)
        if self._project_id is None:
            projects = self.call("listProjects")
            if not projects:
                raise ValueError("The key belongs to no project.")
            self._project_id = str(projects[0]["id"])
        return with_project(place, self._project_id, given)


class Resource:
    """The methods of one kind of resource. Each takes its ID, then its filters or its body, then the options of the call."""

    def __init__(self, client: Client) -> None:
        self._client = client


def with_project(place: str, project: str, given: Mapping[str, Any]) -> Dict[str, Any]:
    """A call with the project in a path parameter, or in its body."""
    if place == "body":
        return {**given, "body": {**given["body"], "projectId": project}}
    return {**given, "path": {**given.get("path", {}), place: project}}
