from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Any, Dict, Mapping, TypedDict, Union


class WebhookCall(TypedDict):
    """What a webhook says."""

    type: str
    timestamp: str
    data: Dict[str, Any]


class WebhookVerificationError(ValueError):
    """The webhook is not signed with this secret, or is too old."""


def verify_webhook(
    body: Union[str, bytes], headers: Mapping[str, str], secret: str, *, tolerance: float = 300
) -> WebhookCall:
    """
    Checks the signature of a webhook (Standard Webhooks) and returns what it says.

    `body` is the body as it was received. A call whose time differs from now by more than `tolerance` seconds is refused: somebody may
    have kept it to send it again. Raises WebhookVerificationError.
    """
    given = {name.lower(): value for name, value in headers.items()}
    try:
        call_id, sent_at, signatures = (given[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
    except KeyError as missing:
        raise WebhookVerificationError(f"The header {missing} is missing.") from None
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > tolerance:
        raise WebhookVerificationError("The webhook is too old or too new.")
    payload = body.encode() if isinstance(body, str) else body
    expected = _sign(secret, f"{call_id}.{sent_at}.".encode() + payload)
    # Every signature is compared in full, so that the time says nothing about the right one.
    matches = [hmac.compare_digest(expected, one.encode()) for one in signatures.split(" ")]
    if not any(matches):
        raise WebhookVerificationError("No signature of the webhook is by this secret.")
    call: WebhookCall = json.loads(payload)
    return call


def _sign(secret: str, content: bytes) -> bytes:
    encoded = secret[len("whsec_") :] if secret.startswith("whsec_") else secret
    try:
        key = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        raise WebhookVerificationError("The secret is not valid: it begins with whsec_.") from None
    if not key:
        raise WebhookVerificationError("The secret is missing.")
    return b"v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest())
