"""What both clients do with responses that a service rarely gives, by a transport that has them in a list."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import importlib.metadata
import time
import warnings
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import httpx
from fernpost import (
    AsyncFernpost,
    Fernpost,
    FernpostError,
    FernpostWarning,
    Response,
    WebhookVerificationError,
    verify_webhook,
)

Scripted = Union[Tuple[int, Any], Tuple[int, Any, Dict[str, str]], httpx.TransportError]
BASE = "https://acme.com/mail/"


# What is installed is what the wheel's own record says.
for one in importlib.metadata.files("fernpost") or []:
    if one.hash is not None and one.suffix == ".py":
        digest = hashlib.new(one.hash.mode, one.read_binary()).digest()
        assert base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == one.hash.value, one


class Service:
    """Answers requests in the order of a list, and keeps them."""

    def __init__(self, *answers: Scripted) -> None:
        self.answers = list(answers)
        self.requests: List[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, httpx.TransportError):
            raise answer
        headers = answer[2] if len(answer) == 3 else {}
        return httpx.Response(answer[0], headers=headers) if answer[1] is None else httpx.Response(answer[0], json=answer[1], headers=headers)

    def sync(self) -> Fernpost:
        return Fernpost(BASE, key="sk_1", transport=httpx.MockTransport(self))

    def async_(self) -> AsyncFernpost:
        return AsyncFernpost(BASE, key="sk_1", transport=httpx.MockTransport(self))


def both(answers: Callable[[], Service], sync: Callable[[Fernpost], Any], async_: Callable[[AsyncFernpost], Any]) -> List[Tuple[Any, Service]]:
    """The result of each client, or what it raised, with the service that it asked."""

    async def in_loop(client: AsyncFernpost) -> Any:
        return await async_(client)

    outcomes = []
    for run in (lambda one: sync(one.sync()), lambda one: asyncio.run(in_loop(one.async_()))):
        service = answers()
        try:
            outcomes.append((run(service), service))
        except Exception as error:
            outcomes.append((error, service))
    return outcomes


NOW = {"Retry-After": "0.01"}
SENT = (200, {"success": True, "data": {"emails": [{"email": "one"}]}})
MAIL: Any = {"to": "ada@example.com"}

# A write with a key is repeated with the same key, after a refusal that may pass and after no response.
for result, service in both(
    lambda: Service((503, {}, NOW), httpx.ConnectError("gone"), SENT), lambda c: c.send(MAIL), lambda c: c.send(MAIL)
):
    assert result == [{"email": "one"}], result
    assert len({one.headers["idempotency-key"] for one in service.requests}) == 1
    assert {one.headers["idempotency-mode"] for one in service.requests} == {"replay"}
    assert service.requests[0].url == "https://acme.com/mail/v1/send"
    assert service.requests[0].headers["user-agent"].startswith("fernpost-python/")

# It is given up after three attempts; a refusal that stays is not repeated, and neither is a write without a key.
for result, service in both(lambda: Service(*[(429, {}, NOW)] * 3), lambda c: c.emails.get("1"), lambda c: c.emails.get("1")):
    assert isinstance(result, FernpostError) and (result.status, result.code) == (429, "RATE_LIMIT_EXCEEDED")
    assert len(service.requests) == 3
for result, service in both(lambda: Service(httpx.ReadTimeout("slow")), lambda c: c.templates.delete("1"), lambda c: c.templates.delete("1")):
    assert isinstance(result, httpx.ReadTimeout) and len(service.requests) == 1

# Both forms of errors have every attribute.
ENVELOPE = {
    "code": "FORBIDDEN",
    "message": "No",
    "details": {"reason": "scope"},
    "suggestion": "Ask for it.",
    "errors": [{"field": "to", "message": "must be an address", "code": "invalid"}],
}
for result, _ in both(lambda: Service((403, {"error": ENVELOPE}, {"X-Request-ID": "r1"})), lambda c: c.contacts.get("1"), lambda c: c.contacts.get("1")):
    assert isinstance(result, FernpostError)
    assert (result.details, result.suggestion, result.request_id) == ({"reason": "scope"}, "Ask for it.", "r1")
    assert str(result) == "403 FORBIDDEN: No\n  to: must be an address\n  Ask for it.\n  Request: r1", str(result)
for result, _ in both(lambda: Service((404, {"error": "None"})), lambda c: c.contacts.get("1"), lambda c: c.contacts.get("1")):
    assert isinstance(result, FernpostError) and (result.code, result.message, result.fields) == ("RESOURCE_NOT_FOUND", "None", [])

# Lists go on by a cursor, in the query or in the body of a search, and by the number of a page.
BY_CURSOR = ((200, {"data": [1], "cursor": "c", "hasMore": True}), (200, {"data": [2], "cursor": None, "hasMore": False, "total": 2}))
BY_NUMBER = ((200, {"data": [1], "page": 1, "totalPages": 2, "total": 2}), (200, {"data": [2], "page": 2, "totalPages": 2}))


async def items(list_: Any) -> List[Any]:
    return [one async for one in list_]


for result, service in both(lambda: Service(*BY_CURSOR), lambda c: list(c.contacts.list({"limit": 1})), lambda c: items(c.contacts.list({"limit": 1}))):
    assert result == [1, 2] and [dict(one.url.params) for one in service.requests] == [{"limit": "1"}, {"limit": "1", "cursor": "c"}]
for result, service in both(lambda: Service(*BY_CURSOR), lambda c: list(c.contacts.search({"limit": 1})), lambda c: items(c.contacts.search({"limit": 1}))):
    assert result == [1, 2] and [b'"cursor"' in one.content for one in service.requests] == [False, True]
for result, service in both(lambda: Service(*BY_NUMBER), lambda c: list(c.campaigns.list()), lambda c: items(c.campaigns.list())):
    assert result == [1, 2] and service.requests[1].url.params["page"] == "2"


async def first_page(client: AsyncFernpost) -> Tuple[Any, ...]:
    page = await client.campaigns.list()
    rest = await page.next_page()
    return page.data, page.total, rest and rest.data, rest and rest.has_more


def first_page_sync(client: Fernpost) -> Tuple[Any, ...]:
    page = client.campaigns.list()
    rest = page.next_page()
    return page.data, page.total, rest and rest.data, rest and rest.has_more


for result, _ in both(lambda: Service(*BY_NUMBER), first_page_sync, first_page):
    assert result == ([1], 2, [2], False), result

# The response around a value; a condition on its version; the project of the key, looked up once.
seen: List[Response] = []
HEADERS = {"ETag": '"7"', "RateLimit-Limit": "10", "RateLimit-Remaining": "9", "RateLimit-Reset": "30"}
for result, service in both(
    lambda: Service((200, {"id": "1"}, HEADERS)),
    lambda c: c.templates.update("a/b", {}, if_match='"6"', on_response=seen.append),
    lambda c: c.templates.update("a/b", {}, if_match='"6"', on_response=seen.append),
):
    assert service.requests[0].headers["if-match"] == '"6"' and service.requests[0].url.raw_path == b"/mail/templates/a%2Fb"
    assert (seen[-1].etag, seen[-1].rate_limit) == ('"7"', {"limit": 10, "remaining": 9, "reset": 30})
PROJECT = ((200, [{"id": "p"}]), (200, [{"domain": "acme.com"}]))
for result, service in both(lambda: Service(*PROJECT), lambda c: list(c.domains.list()), lambda c: items(c.domains.list())):
    assert result == [{"domain": "acme.com"}] and "p" in service.requests[1].url.path.split("/")
for result, service in both(lambda: Service(), lambda c: c.contacts.get(""), lambda c: c.contacts.get("")):
    assert isinstance(result, ValueError) and not service.requests

# Fields that were not read are warned of, once.
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    ignored = {"X-Ignored-Fields": 'first_name;use="data.firstName", limit;in=query'}
    client = Service((200, {}, ignored), (200, {}, ignored)).sync()
    client.contacts.upsert({"email": "ada@example.com"})
    client.contacts.upsert({"email": "ada@example.com"})
told = [str(one.message) for one in caught if one.category is FernpostWarning]
assert told == [
    'upsertContact ignored "first_name": use "data.firstName".',
    'upsertContact ignored the query parameter "limit".',
], told


# Webhooks: several signatures, a secret without its prefix, the age, and what is missing.
def refusal(body: str, headers: Dict[str, str], secret: str) -> Optional[str]:
    try:
        assert verify_webhook(body, headers, secret)["type"] == "a"
    except WebhookVerificationError as error:
        return str(error)
    return None


KEY = base64.b64encode(b"0123456789abcdef01234567").decode()
BODY = '{"type":"a","text":"Grüße"}'


def signed(at: int, key: str = KEY) -> Dict[str, str]:
    digest = hmac.new(base64.b64decode(key), f"msg.{at}.{BODY}".encode(), hashlib.sha256).digest()
    return {"Webhook-Id": "msg", "Webhook-Timestamp": str(at), "Webhook-Signature": f"v1,AAAA v1,{base64.b64encode(digest).decode()}"}


now = int(time.time())
assert refusal(BODY, signed(now), f"whsec_{KEY}") is None
assert refusal(BODY, signed(now), KEY) is None
assert "signature" in str(refusal(BODY + " ", signed(now), KEY))
assert "signature" in str(refusal(BODY, signed(now), base64.b64encode(b"another").decode()))
for at in (now - 400, now + 400):
    assert "too old" in str(refusal(BODY, signed(at), KEY))
assert "missing" in str(refusal(BODY, {"Webhook-Id": "msg"}, KEY))
assert "secret" in str(refusal(BODY, signed(now), "whsec_not base64"))
assert "secret" in str(refusal(BODY, signed(now), ""))
