"""What both clients do alike: prepare a request, read its response, and decide whether to repeat it."""

from __future__ import annotations

import random
import re
import uuid
import warnings
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Callable, Dict, Mapping, Optional, TypedDict, Union
from urllib.parse import quote, unquote, urlsplit

import httpx

from ._errors import FernpostError, FernpostWarning
from ._operations import operations
from ._version import __version__

_longest_pause = 30.0
_most_warnings = 1_000


class ClientOptions(TypedDict, total=False):
    """How a client reaches the service."""

    retries: int
    """Attempts after the first one, where repeating is safe; 2 when absent."""
    timeout: float
    """Seconds that connecting and each read and write of an attempt may take; 30 when absent."""
    project_id: str
    """The project of the key, for domains and keys; looked up when absent."""
    transport: Any
    """A transport of httpx in place of its own, such as one with a proxy or for tests."""


class CallOptions(TypedDict, total=False):
    """What a call may say besides its input."""

    idempotency_key: str
    """
    One is made for calls that take a key, and kept over their retries. Name your own where your program may restart in between: the same
    call with the same key is done once and returns the same.
    """
    if_match: str
    """The `etag` of the version that you read: the call fails with 412 if somebody else has changed it since."""
    headers: Mapping[str, str]
    """Further headers."""
    timeout: float
    """Seconds, in place of the client's `timeout`."""
    on_response: Callable[[Response], None]
    """Gets the response around the value that the method returns: its headers, ETag and rate limit."""


@dataclass(frozen=True)
class Response:
    """A response of the service."""

    data: Any
    status: int
    headers: Mapping[str, str]

    @property
    def request_id(self) -> Optional[str]:
        """Identifies the request in the logs of the service."""
        return self.headers.get("x-request-id")

    @property
    def etag(self) -> Optional[str]:
        """The version of the resource, for `if_match` of the next update."""
        return self.headers.get("etag")

    @property
    def rate_limit(self) -> Optional[Dict[str, int]]:
        """`limit` of one window, `remaining`, and `reset` in seconds; None where the response does not say."""
        names = ("limit", "remaining", "reset")
        values = {name: self.headers.get(f"ratelimit-{name}") for name in names}
        return {name: int(value or 0) for name, value in values.items()} if all(values.values()) else None


@dataclass
class Call:
    """One call of an operation, over all of its attempts."""

    operation: str
    attempts: int
    request: Dict[str, Any]
    on_response: Optional[Callable[[Response], None]] = None
    attempt: int = field(default=0)


class Requests:
    """Prepares requests, and reads their responses."""

    def __init__(self, base_url: str, key: str, retries: int = 2) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"base_url must be an address such as https://mail.acme.com, not {base_url!r}.")
        if not key:
            raise ValueError("key is missing: pass a key of your project.")
        self._base_url = base_url.rstrip("/")
        self._key = key
        self._retries = retries
        self._warned: set[str] = set()

    def prepare(
        self,
        operation: str,
        *,
        path: Optional[Mapping[str, Union[str, int]]] = None,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        file: Optional[Union[bytes, BinaryIO]] = None,
        fields: Optional[Mapping[str, str]] = None,
        idempotency_key: Optional[str] = None,
        if_match: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = None,
        on_response: Optional[Callable[[Response], None]] = None,
    ) -> Call:
        if operation not in operations:
            raise ValueError(f"There is no operation {operation!r}: `fernpost.operations` has them all.")
        method, template, takes_key = operations[operation]
        all_headers = {"Authorization": f"Bearer {self._key}", "User-Agent": f"fernpost-python/{__version__}"}
        if takes_key:
            # A repetition of a request that was done gets the response that was lost.
            all_headers["Idempotency-Key"] = idempotency_key or str(uuid.uuid4())
            all_headers["Idempotency-Mode"] = "replay"
        if if_match is not None:
            all_headers["If-Match"] = if_match
        all_headers.update(headers or {})
        request: Dict[str, Any] = {
            "method": method,
            "url": self._base_url + _filled(operation, template, path or {}),
            "params": {name: _text(value) for name, value in (query or {}).items() if value is not None},
            "headers": all_headers,
        }
        if body is not None:
            request["json"] = body
        if file is not None:
            request["files"] = {"file": ("upload.csv", file, "text/csv")}
            request["data"] = dict(fields or {})
        if timeout is not None:
            request["timeout"] = timeout
        # A file that is read once cannot be sent again.
        is_safe = (method == "GET" or takes_key) and (file is None or isinstance(file, bytes))
        return Call(operation, 1 + self._retries if is_safe else 1, request, on_response)

    def outcome(self, call: Call, response: httpx.Response) -> Union[Response, float]:
        """The response, or the seconds to wait before the call is repeated. Raises FernpostError for a refusal."""
        if response.is_success:
            is_json = "json" in response.headers.get("content-type", "")
            data = None if response.status_code == 204 else response.json() if is_json else response.text
            result = Response(data, response.status_code, response.headers)
            self._warn(call.operation, response.headers.get("x-ignored-fields"))
            if call.on_response is not None:
                call.on_response(result)
            return result
        may_pass = response.status_code == 429 or response.status_code >= 500
        if call.attempt >= call.attempts or not may_pass:
            raise error_of(response)
        return pause(call.attempt, response.headers.get("retry-after"))

    def _warn(self, operation: str, ignored: Optional[str]) -> None:
        for text in ignored_fields(operation, ignored):
            if text not in self._warned and len(self._warned) < _most_warnings:
                self._warned.add(text)
                warnings.warn(text, FernpostWarning, stacklevel=5)


def pause(attempt: int, retry_after: Optional[str] = None) -> float:
    """As long as the service says, otherwise twice as long each time, with jitter so that clients do not come back together."""
    asked = float(retry_after) if retry_after and re.fullmatch(r"\d+(\.\d+)?", retry_after) else 0.0
    return min(asked or 0.25 * 2 ** (attempt - 1) * (0.5 + random.random()), _longest_pause)


_value = r'"(?:[^"\\]|\\.)*"|[^\s",;]+'
_items = re.compile(rf"({_value})((?:\s*;\s*[a-z]+=(?:{_value}))*)")
_parameters = re.compile(rf";\s*([a-z]+)=({_value})")


def ignored_fields(operation: str, header: Optional[str]) -> list[str]:
    """A warning for each field of the header `X-Ignored-Fields`, such as `first_name;use="data.firstName", limit;in=query`."""
    found = []
    for name, rest in _items.findall(header or ""):
        told = {key: _plain(value) for key, value in _parameters.findall(rest)}
        kind = "the query parameter " if told.get("in") == "query" else ""
        hint = f': use "{told["use"]}"' if "use" in told else ""
        found.append(f'{operation} ignored {kind}"{_plain(name)}"{hint}.')
    return found


def _plain(text: str) -> str:
    return unquote(re.sub(r"\\(.)", r"\1", text[1:-1])) if text.startswith('"') else text


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _filled(operation: str, template: str, path: Mapping[str, Union[str, int]]) -> str:
    def segment(match: "re.Match[str]") -> str:
        value = str(path.get(match[1], ""))
        # An empty value would call another operation: that of the list, or of the project.
        if value in ("", ".", ".."):
            raise ValueError(f"{operation} needs {match[1]}: {value!r} is not an ID.")
        return quote(value, safe="")

    return re.sub(r"\{(\w+)\}", segment, template)


def error_of(response: httpx.Response) -> FernpostError:
    """The error that a refused request raises."""
    try:
        body = response.json()
    except ValueError:
        body = None
    return FernpostError(response.status_code, body, response.headers)
