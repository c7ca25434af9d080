"""Client of the Fernpost API: send, look up, track and listen."""

from ._async_methods import AsyncFernpost
from ._errors import FernpostError, FernpostWarning
from ._http import CallOptions, ClientOptions, Response
from ._methods import Fernpost
from ._operations import operations
from ._pages import AsyncPage, AsyncPages, Page
from ._version import __version__
from ._webhooks import WebhookCall, WebhookVerificationError, verify_webhook

__all__ = [
    "AsyncFernpost",
    "AsyncPage",
    "AsyncPages",
    "CallOptions",
    "ClientOptions",
    "Fernpost",
    "FernpostError",
    "FernpostWarning",
    "Page",
    "Response",
    "WebhookCall",
    "WebhookVerificationError",
    "__version__",
    "operations",
    "verify_webhook",
]
