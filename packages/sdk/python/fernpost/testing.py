"""Reads the inbox of the mail sandbox, for end-to-end tests of an app."""

from __future__ import annotations

from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Type, TypedDict

import httpx

if TYPE_CHECKING:
    from typing_extensions import NotRequired, Self


class Address(TypedDict):
    email: str
    name: str


class MessageEvent(TypedDict):
    type: str
    recipient: str
    at: str
    link: NotRequired[str]


# "from" is a keyword, and cannot be a field of a class.
SandboxMessage = TypedDict(
    "SandboxMessage",
    {
        "id": str,
        "at": str,
        "status": str,
        "from": str,
        "to": List[Address],
        "subject": str,
        "html": str,
        "text": str,
        "metadata": Dict[str, str],
        "events": List[MessageEvent],
    },
)


class LinkAnswer(TypedDict):
    """What the service returned for a link of a message; a redirect is not followed."""

    status: int
    location: Optional[str]
    body: str


class ClickedLink(TypedDict):
    link: str
    answer: Optional[LinkAnswer]


class SandboxInbox:
    """The inbox of the mail sandbox."""

    def __init__(self, url: str = "http://localhost:8025") -> None:
        self._http = httpx.Client(base_url=url, timeout=70)

    def wait_for(
        self,
        *,
        to: Optional[str] = None,
        subject: Optional[str] = None,
        since: Optional[datetime] = None,
        seconds: int = 10,
    ) -> SandboxMessage:
        """
        The latest message that matches, as soon as there is one; `to` and `subject` match parts.

        Raises LookupError when none arrives within `seconds`, which are at most 60.
        """
        found: List[SandboxMessage] = self._call("GET", "/api/messages", params=_query(to, subject, since, seconds))["messages"]
        if not found:
            raise _nothing(to, subject, seconds)
        return found[0]

    def click(self, message: SandboxMessage, part: str = "") -> ClickedLink:
        """Clicks the first link whose address contains `part`. Links of the service are opened, others are only reported as clicked."""
        clicked: ClickedLink = self._call("POST", f"/api/messages/{message['id']}/click", json={"link": part})
        return clicked

    def unsubscribe(self, message: SandboxMessage) -> ClickedLink:
        """Presses the unsubscribe button of a mail program (RFC 8058)."""
        clicked: ClickedLink = self._call("POST", f"/api/messages/{message['id']}/unsubscribe", json={})
        return clicked

    def clear(self) -> None:
        """Deletes all messages."""
        self._call("DELETE", "/api/messages")

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def _call(self, method: str, path: str, **request: Any) -> Any:
        return _answer(self._http.request(method, path, **request))


class AsyncSandboxInbox:
    """The inbox of the mail sandbox, for asyncio."""

    def __init__(self, url: str = "http://localhost:8025") -> None:
        self._http = httpx.AsyncClient(base_url=url, timeout=70)

    async def wait_for(
        self,
        *,
        to: Optional[str] = None,
        subject: Optional[str] = None,
        since: Optional[datetime] = None,
        seconds: int = 10,
    ) -> SandboxMessage:
        """
        The latest message that matches, as soon as there is one; `to` and `subject` match parts.

        Raises LookupError when none arrives within `seconds`, which are at most 60.
        """
        answer = await self._call("GET", "/api/messages", params=_query(to, subject, since, seconds))
        found: List[SandboxMessage] = answer["messages"]
        if not found:
            raise _nothing(to, subject, seconds)
        return found[0]

    async def click(self, message: SandboxMessage, part: str = "") -> ClickedLink:
        """Clicks the first link whose address contains `part`. Links of the service are opened, others are only reported as clicked."""
        clicked: ClickedLink = await self._call("POST", f"/api/messages/{message['id']}/click", json={"link": part})
        return clicked

    async def unsubscribe(self, message: SandboxMessage) -> ClickedLink:
        """Presses the unsubscribe button of a mail program (RFC 8058)."""
        clicked: ClickedLink = await self._call("POST", f"/api/messages/{message['id']}/unsubscribe", json={})
        return clicked

    async def clear(self) -> None:
        """Deletes all messages."""
        await self._call("DELETE", "/api/messages")

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()

    async def _call(self, method: str, path: str, **request: Any) -> Any:
        return _answer(await self._http.request(method, path, **request))


def _query(to: Optional[str], subject: Optional[str], since: Optional[datetime], seconds: int) -> Dict[str, str]:
    wanted = {"to": to, "subject": subject, "since": None if since is None else since.astimezone().isoformat()}
    fixed = {"bodies": "1", "limit": "1", "wait": f"{seconds}s"}
    return {**fixed, **{name: value for name, value in wanted.items() if value is not None}}


def _nothing(to: Optional[str], subject: Optional[str], seconds: int) -> LookupError:
    return LookupError(f'No message to {to or "anybody"} about "{subject or ""}" within {seconds} seconds.')


def _answer(response: httpx.Response) -> Any:
    answer = response.json()
    if not response.is_success:
        raise RuntimeError(f"The mail sandbox returned {response.status_code}: {answer.get('error', '')}")
    return answer
