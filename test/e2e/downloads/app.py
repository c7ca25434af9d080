"""The same as uses.cjs: sends, lists, verifies a webhook, and learns why a request was refused. Once for each client."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any, Dict, Optional

from fernpost import AsyncFernpost, Fernpost, FernpostError, WebhookVerificationError, types, verify_webhook


def mail_to(to: str) -> types.SendEmailRequest:
    return {"to": to, "from": "hello@fernpost.test", "subject": "Hello", "body": "<p>Hello</p>"}


def outcome(sent: types.SentEmail, emails: list[types.EmailSummary], hook: Any, refusal: Optional[FernpostError]) -> Dict[str, Any]:
    forged = False
    try:
        verify_webhook(hook["body"] + " ", hook["headers"], hook["secret"])
    except WebhookVerificationError:
        forged = True
    assert refusal is not None and "\n  to: " in str(refusal) and str(refusal.request_id) in str(refusal)
    return {
        "listed": [{"isSent": one["id"] == sent["email"], "subject": one["subject"]} for one in emails],
        "type": verify_webhook(hook["body"], hook["headers"], hook["secret"])["type"],
        "isForgeryRefused": forged,
        "refusal": {
            "isRefusal": len(refusal.request_id or "") == 36,
            "status": refusal.status,
            "code": refusal.code,
            "fields": [one["field"] for one in refusal.fields],
        },
    }


def main(url: str, key: str, to: str, hook: Any) -> Dict[str, Any]:
    with Fernpost(url, key=key) as fernpost:
        [sent] = fernpost.send(mail_to(to))
        refusal = None
        try:
            fernpost.send(mail_to("nobody"))
        except FernpostError as error:
            refusal = error
        return outcome(sent, list(fernpost.emails.list({"to": to})), hook, refusal)


async def main_async(url: str, key: str, to: str, hook: Any) -> Dict[str, Any]:
    async with AsyncFernpost(url, key=key) as fernpost:
        [sent] = await fernpost.send(mail_to(to))
        refusal = None
        try:
            await fernpost.send(mail_to("nobody"))
        except FernpostError as error:
            refusal = error
        return outcome(sent, [one async for one in fernpost.emails.list({"to": to})], hook, refusal)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        given = json.load(file)
    arguments = (given["url"], given["key"], given["to"], given["webhook"])
    is_async = sys.argv[2:] == ["async"]
    print(json.dumps(asyncio.run(main_async(*arguments)) if is_async else main(*arguments)))
