from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, TypedDict


class FieldProblem(TypedDict):
    """A field that was refused."""

    field: str
    message: str
    code: str


class FernpostError(Exception):
    """A response with a status of 400 or more. Both forms of errors that the service has fill every attribute."""

    #: The status of the response.
    status: int
    #: What went wrong, for programs: `VALIDATION_ERROR`, `RATE_LIMIT_EXCEEDED` and so on.
    code: str
    #: What went wrong, for people.
    message: str
    #: Facts about the refusal, such as `reason`, `needed` or `limitBytes`; empty where there are none.
    details: Dict[str, Any]
    #: What to do about it; None where the service has no advice.
    suggestion: Optional[str]
    #: The fields that were refused.
    fields: List[FieldProblem]
    #: Identifies the request in the logs of the service.
    request_id: Optional[str]
    #: Headers of the response, such as `Retry-After`.
    headers: Mapping[str, str]

    def __init__(self, status: int, body: Any, headers: Mapping[str, str]) -> None:
        error = body.get("error") if isinstance(body, dict) else None
        envelope: Dict[str, Any] = error if isinstance(error, dict) else {}
        bare = error if isinstance(error, str) else f"The service responded with status {status}."
        self.status = status
        self.message = envelope.get("message") or bare
        self.code = envelope.get("code") or _code_of(status)
        self.details = envelope.get("details") or {}
        self.suggestion = envelope.get("suggestion")
        self.fields = envelope.get("errors") or []
        self.request_id = headers.get("x-request-id")
        self.headers = headers
        super().__init__(self.message)

    def __str__(self) -> str:
        problems = "".join(f"\n  {one['field']}: {one['message']}" for one in self.fields)
        advice = f"\n  {self.suggestion}" if self.suggestion else ""
        request = f"\n  Request: {self.request_id}" if self.request_id else ""
        return f"{self.status} {self.code}: {self.message}{problems}{advice}{request}"


class FernpostWarning(UserWarning):
    """A field or a query parameter that the service did not read."""


# The service's own codes for these statuses.
_codes = {
    400: "BAD_REQUEST",
    401: "UNAUTHORIZED",
    402: "BILLING_LIMIT_EXCEEDED",
    403: "FORBIDDEN",
    404: "RESOURCE_NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    408: "REQUEST_TIMEOUT",
    409: "CONFLICT",
    410: "TOO_LATE",
    412: "PRECONDITION_FAILED",
    413: "PAYLOAD_TOO_LARGE",
    422: "VALIDATION_ERROR",
    429: "RATE_LIMIT_EXCEEDED",
    500: "INTERNAL_SERVER_ERROR",
}


def _code_of(status: int) -> str:
    return _codes.get(status) or ("SERVICE_UNAVAILABLE" if status > 500 else f"HTTP_{status}")
