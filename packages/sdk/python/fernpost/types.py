"""Types of requests and responses. They are dictionaries at run time."""

# Written by generate-types.ts.
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired, TypeAlias
elif sys.version_info >= (3, 11):
    from typing import NotRequired, TypeAlias
else:
    # What evaluates the annotations of older versions sees a field that may be None.
    NotRequired = Optional
    TypeAlias = Any


class Activity(TypedDict):
    id: str
    """ID of the activity, made of the ID of its email, event, campaign or execution."""
    type: Literal["event.triggered", "email.sent", "email.delivered", "email.received", "email.opened", "email.clicked", "email.bounced", "email.complaint", "campaign.sent", "campaign.scheduled", "workflow.started", "workflow.completed", "workflow.email.scheduled", "email.failed", "email.suppressed"]
    """Type of the activity; see `GET /activity/types`."""
    timestamp: str
    """When it happened; for upcoming activities, when it is due."""
    contactEmail: NotRequired[str]
    """Address of the contact; absent for activities without one."""
    contactId: NotRequired[str]
    """ID of the contact; absent for activities without one."""
    metadata: Dict[str, Any]
    """Details, which depend on the type, such as the subject of an email."""


class ActivityPage(TypedDict):
    data: List[Activity]
    """Activities on this page, newest first."""
    cursor: NotRequired[str]
    """Pass it as `cursor` to get the next page; absent on the last page."""
    hasMore: bool
    """Whether there is another page."""
    total: int
    """Number of activities that match. Counted on the first page only; 0 on the others."""


class AddDomainRequest(TypedDict):
    domain: str
    """Name of the domain, such as `example.com`; stored in lower case."""
    projectId: NotRequired[str]
    """ID of the project; that of the request when absent."""


class AddSegmentMembersRequest(TypedDict):
    emails: List[str]
    """Email addresses of the contacts to add."""
    createMissing: NotRequired[bool]
    """Whether addresses that belong to no contact become contacts. Default: `false`."""
    subscribed: NotRequired[bool]
    """Whether contacts that are created are subscribed to marketing mail. Default: `true`."""


class AddSegmentMembersResult(TypedDict):
    added: int
    """Number of contacts that were added to the segment."""
    created: int
    """Number of contacts that were created."""
    notFound: List[str]
    """Addresses that belong to no contact."""


class AddressVerification(TypedDict):
    email: str
    """The address as it was sent."""
    valid: bool
    """Whether the address can receive mail, as far as can be known."""
    isDisposable: bool
    """Whether the address is from a provider of disposable addresses."""
    isAlias: bool
    """Whether the domain is an alias of a known mail provider."""
    isTypo: bool
    """Whether the domain looks like a misspelled mail provider."""
    isPlusAddressed: bool
    """Whether the part before the `@` contains a `+` tag."""
    isPersonalEmail: bool
    """Whether the address is from a provider for private mailboxes."""
    domainExists: bool
    """Whether the domain exists."""
    hasWebsite: bool
    """Whether the domain has a website."""
    hasMxRecords: bool
    """Whether the domain accepts mail."""
    suggestedEmail: NotRequired[str]
    """The address that was probably meant; only when `isTypo` is true."""
    reasons: List[str]
    """Reasons for the result, as sentences for people."""


class AnyError(TypedDict):
    success: NotRequired[bool]
    """Always false; only in the envelope."""
    error: Union[str, ErrorDetails]
    """The error, or only what went wrong as a sentence for people."""
    timestamp: NotRequired[str]
    """Time of the response; only in the envelope."""


class ErrorDetails(TypedDict):
    code: str
    """What went wrong, as a code for programs."""
    message: str
    """What went wrong, as a sentence for people."""
    statusCode: int
    """HTTP status of the response."""
    requestId: str
    """ID of the request: the `X-Request-ID` header of the response. Include it when you ask for help."""
    details: NotRequired[Dict[str, Any]]
    """Facts about the error, for programs; they depend on the code."""
    errors: NotRequired[List[FieldProblem]]
    """Every field that was refused."""
    suggestion: NotRequired[str]
    """What to do about the error."""


class FieldProblem(TypedDict):
    field: str
    """Path of the field, such as `to.0.email`; empty for the request as a whole."""
    message: str
    """What is wrong with the field, for people."""
    code: str
    """What is wrong with the field, for programs, such as `invalid_type` or `too_big`."""
    received: NotRequired[str]
    """JSON type of the value, such as `null`; only when another type is expected."""


class ArchiveCampaignResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: CampaignWithSegment
    """The archived or unarchived campaign."""


CampaignWithSegment = TypedDict(
    "CampaignWithSegment",
    {
        "id": "str",
        "name": "str",
        "description": "Optional[str]",
        "subject": "str",
        "body": "str",
        "document": "Optional[Dict[str, Any]]",
        "from": "str",
        "fromName": "Optional[str]",
        "replyTo": "Optional[str]",
        "type": "Literal['TRANSACTIONAL', 'MARKETING', 'HEADLESS']",
        "status": "Literal['DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED']",
        "audienceType": "Literal['ALL', 'SEGMENT', 'FILTERED']",
        "audienceCondition": "Optional[Dict[str, Any]]",
        "segmentId": "Optional[str]",
        "scheduledFor": "Optional[str]",
        "totalRecipients": "int",
        "sentCount": "int",
        "deliveredCount": "int",
        "openedCount": "int",
        "clickedCount": "int",
        "bouncedCount": "int",
        "complainedCount": "int",
        "unsubscribedCount": "int",
        "archived": "bool",
        "pausedAt": "Optional[str]",
        "pauseReason": "Optional[str]",
        "resendOf": "Optional[str]",
        "correction": "Optional[EarlierRecipients]",
        "contentVersion": "int",
        "revision": "int",
        "projectId": "str",
        "sentAt": "Optional[str]",
        "createdAt": "str",
        "updatedAt": "str",
        "segment": "Optional[Segment]",
        "approval": "Optional[CampaignApproval]",
        "held": "Optional[str]",
        "hold": "Optional[SendingHold]",
        "quietHours": "Optional[CampaignWithSegmentQuietHours]",
        "canary": "Optional[CampaignCanary]",
    },
)


class EarlierRecipients(TypedDict):
    versions: List[int]
    """Versions of the earlier campaign’s content whose recipients receive this one."""
    who: Literal["got", "opened", "clicked", "not_opened", "not_clicked"]
    """Recipients by what they did with these versions: `got`, `opened`, `clicked`, `not_opened` or `not_clicked`."""


class Segment(TypedDict):
    id: str
    """ID of the segment."""
    name: str
    """Name of the segment."""
    description: Optional[str]
    """Description of the segment; null without one."""
    type: Literal["DYNAMIC", "STATIC"]
    """`DYNAMIC`: contacts that match the condition. `STATIC`: contacts that were added by hand."""
    condition: Optional[Condition]
    """Condition of a dynamic segment; null for a static segment."""
    trackMembership: bool
    """Whether members are stored, with an event for each entry and exit."""
    memberCount: int
    """Number of members at the last count."""
    revision: int
    """Number of the revision, which every edit increases; the `ETag` without its quotes."""
    projectId: str
    """ID of the project."""
    createdAt: str
    """Time at which the segment was created."""
    updatedAt: str
    """Time of the last change of the segment."""


class Condition(TypedDict):
    """Groups of filters, at most 10 levels and 200 filters."""
    logic: Literal["AND", "OR"]
    """`AND`: every group must match. `OR`: at least one group must match."""
    groups: List[ConditionGroup]
    """Groups of filters, combined by `logic`."""


class ConditionGroup(TypedDict):
    filters: List[ConditionFilter]
    """Filters that must all match."""
    conditions: NotRequired[Optional[Condition]]
    """A condition tree that must match as well; null or absent for none."""


ConditionFilter: TypeAlias = "Union[ConditionComparison, ConditionWindow, ConditionState]"


class ConditionComparison(TypedDict):
    field: str
    """`email`, `subscribed`, `createdAt`, `updatedAt`, `data.<key>`, `event.<name>`, `email.<activity>` or `segment.<id>`."""
    operator: Literal["equals", "notEquals", "contains", "notContains", "greaterThan", "lessThan", "greaterThanOrEqual", "lessThanOrEqual"]
    """How the value of the field is compared."""
    value: Any
    """The value to compare with; its type follows from the field and the operator."""


class ConditionWindow(TypedDict):
    field: str
    """`email`, `subscribed`, `createdAt`, `updatedAt`, `data.<key>`, `event.<name>`, `email.<activity>` or `segment.<id>`."""
    operator: Literal["within", "olderThan", "withinNext", "anniversaryWithin", "triggeredWithin", "triggeredOlderThan", "notTriggeredWithin"]
    """Whether the time lies within the last `value` units, before that, or within the next `value` units; `anniversaryWithin`: whether an earlier day comes round within that time, today included, in UTC."""
    value: Union[float, str]
    """Number of units; a whole number, or its digits as text."""
    unit: Literal["days", "hours", "minutes"]
    """Unit of `value`."""
    where: NotRequired[Optional[List[ConditionEventTest]]]
    """Tests of the data of the event, for `event.<name>`; all must pass. An event without the value passes `notExists` only."""
    times: NotRequired[Optional[ConditionTimes]]
    """How often the event must have happened, for `event.<name>` with `triggered` or `triggeredWithin`; at least once when absent."""
    of: NotRequired[Optional[ConditionMailSource]]
    """The source of the email, for `email.<activity>`: one of the three; any email when absent."""
    link: NotRequired[Optional[str]]
    """The link that was clicked, as it stands in the email, for `email.clicked`; any link when absent."""


class ConditionEventTest(TypedDict):
    path: str
    """Key of the event's data, or a path such as `order.total`."""
    operator: Literal["equals", "notEquals", "contains", "notContains", "greaterThan", "lessThan", "greaterThanOrEqual", "lessThanOrEqual", "exists", "notExists"]
    """How the value is compared, as for `data.<key>`."""
    value: NotRequired[Any]
    """The value to compare with; not used by `exists` and `notExists`."""


class ConditionTimes(TypedDict):
    atLeast: NotRequired[Optional[int]]
    """Fewest times; 1 when absent."""
    atMost: NotRequired[Optional[int]]
    """Most times; null or absent for any number."""


class ConditionMailSource(TypedDict):
    stepId: NotRequired[Optional[str]]
    """ID of the workflow step that sent the email."""
    campaignId: NotRequired[Optional[str]]
    """ID of the campaign that the email belongs to."""
    templateId: NotRequired[Optional[str]]
    """ID of the template that the email was made of."""


class ConditionState(TypedDict):
    field: str
    """`email`, `subscribed`, `createdAt`, `updatedAt`, `data.<key>`, `event.<name>`, `email.<activity>` or `segment.<id>`."""
    operator: Literal["exists", "notExists", "triggered", "notTriggered", "memberOfSegment", "notMemberOfSegment"]
    """The state that the field must be in."""
    where: NotRequired[Optional[List[ConditionEventTest]]]
    """Tests of the data of the event, for `event.<name>`; all must pass. An event without the value passes `notExists` only."""
    times: NotRequired[Optional[ConditionTimes]]
    """How often the event must have happened, for `event.<name>` with `triggered` or `triggeredWithin`; at least once when absent."""
    of: NotRequired[Optional[ConditionMailSource]]
    """The source of the email, for `email.<activity>`: one of the three; any email when absent."""
    link: NotRequired[Optional[str]]
    """The link that was clicked, as it stands in the email, for `email.clicked`; any link when absent."""


class CampaignApproval(TypedDict):
    state: Literal["PENDING"]
    """Always `PENDING`."""
    fingerprint: str
    """Fingerprint of the dry run that was reviewed. Pass it to `POST /campaigns/{id}/approve`."""
    review: int
    """Number of the dry run that was reviewed."""
    recipients: int
    """Number of contacts that would receive the campaign, as reviewed."""
    drift: Union[Literal["none", "fewer"], float]
    """How far the audience may have changed since the review: `none`, `fewer`, or a share from 0 to 1."""
    scheduledFor: Optional[str]
    """When the campaign is to be sent; null for immediately after approval."""
    requestedBy: CampaignApprovalRequestedBy
    """Actor that requested the send. They cannot approve it themselves."""
    requestedAt: str
    """When the send was requested."""
    expiresAt: str
    """When the review expires, and the request with it."""


class CampaignApprovalRequestedBy(TypedDict):
    """Actor that requested the send. They cannot approve it themselves."""
    kind: Literal["user", "key", "mcp", "system"]
    """Type of the actor: a member, an API key, a language model that uses a key, or the service itself."""
    id: Optional[str]
    """ID of the user or of the key with scopes; null for the secret key of the project and for the service."""
    name: Optional[str]
    """Email address of the user, or name of the key; null without one."""


class SendingHold(TypedDict):
    provider: str
    """Mail provider: `postmark`, `ses`, `smtp` or `sandbox`."""
    reason: str
    """Response of the mail provider, or how the connection failed."""
    since: str
    """When the provider stopped accepting mail."""
    until: str
    """When the next attempt is made."""


class CampaignWithSegmentQuietHours(TypedDict):
    contacts: int
    """Number of contacts that the campaign is on hold for."""
    until: str
    """When the first of them can be sent to."""


class CampaignCanary(TypedDict):
    state: Literal["WAITING", "SENDING", "HOLDING", "STOPPED", "PASSED"]
    """`WAITING` for the audience, `SENDING` the slice, `HOLDING` until its reports are in, `STOPPED` with the campaign paused, or `PASSED`."""
    recipients: int
    """Number of contacts in the slice."""
    hold: str
    """How long to wait for reports once the slice is sent, such as `60m`."""
    stopIf: CampaignCanaryStopIf
    """Rates of the slice above which the campaign is paused."""
    minDelivered: int
    """The campaign is paused if fewer emails than this are delivered by the end of the hold."""
    heldUntil: Optional[str]
    """When the hold ends; null before and after it."""
    releasedAt: Optional[str]
    """When somebody ended the hold early; null if nobody did."""
    endedAt: Optional[str]
    """When the canary passed or paused the campaign; null before."""
    counts: CampaignCanaryCounts
    """What happened to the emails of the slice."""
    stopped: Optional[CampaignCanaryStopped]
    """Why the canary paused the campaign; null if it did not."""


class CampaignCanaryStopIf(TypedDict):
    """Rates of the slice above which the campaign is paused."""
    bounceRate: Optional[float]
    """Highest permanent bounce rate, in percent; null for no limit."""
    complaintRate: Optional[float]
    """Highest spam complaint rate, in percent; null for no limit."""
    unsubscribeRate: Optional[float]
    """Highest unsubscribe rate, in percent; null for no limit."""


class CampaignCanaryCounts(TypedDict):
    """What happened to the emails of the slice."""
    pending: int
    """Emails not sent yet, or not confirmed by the mail provider."""
    mailed: int
    """Emails that the mail provider accepted, or refused for an earlier bounce."""
    delivered: int
    """Emails reported as delivered."""
    bounced: int
    """Emails that bounced permanently."""
    complained: int
    """Emails reported as spam."""
    unsubscribed: int
    """Recipients who unsubscribed by this email."""


class CampaignCanaryStopped(TypedDict):
    code: Literal["canary_bounce_rate", "canary_complaint_rate", "canary_unsubscribe_rate", "canary_too_few_delivered"]
    """Limit that was broken: `canary_bounce_rate`, `canary_complaint_rate`, `canary_unsubscribe_rate` or `canary_too_few_delivered`."""
    count: int
    """Number of emails that bounced, were reported, led to an unsubscribe or were delivered, depending on `code`."""
    of: int
    """Number of emails of the slice that `count` is compared with."""
    limit: float
    """Percentage that was exceeded, or number of deliveries that was not reached."""


class BillingConsumption(TypedDict):
    period: BillingConsumptionPeriod
    """The running billing period."""
    usage: BillingConsumptionUsage
    """Usage in the period."""
    credits: Optional[BillingConsumptionCredits]
    """Credit of the account; null without a customer."""
    upcomingInvoice: Optional[BillingConsumptionUpcomingInvoice]
    """Preview of the next invoice; null without one."""


class BillingConsumptionPeriod(TypedDict):
    """The running billing period."""
    start: str
    """Start of the period."""
    end: str
    """End of the period."""


class BillingConsumptionUsage(TypedDict):
    """Usage in the period."""
    total: int
    """Number of emails in the period so far."""
    records: List[Any]
    """Always empty; kept for existing clients."""


class BillingConsumptionCredits(TypedDict):
    balance: int
    """Balance of the account, in the smallest unit of the currency; negative for a credit."""
    hasCredits: bool
    """Whether the account has a credit."""
    creditAmount: int
    """Amount of the credit, in the smallest unit of the currency."""
    currency: Optional[str]
    """Currency of the balance, such as `usd`; null without one."""


class BillingConsumptionUpcomingInvoice(TypedDict):
    amountDue: int
    """Amount due, in the smallest unit of the currency."""
    currency: str
    """Currency of the invoice, such as `usd`."""
    periodStart: str
    """Start of the billing period."""
    periodEnd: str
    """End of the billing period."""
    subtotal: int
    """Amount before taxes, in the smallest unit of the currency."""
    total: int
    """Total amount, in the smallest unit of the currency."""


class BillingLimits(TypedDict):
    workflows: UsageLimit
    """Limit and usage of workflow emails in this month."""
    campaigns: UsageLimit
    """Limit and usage of campaign emails in this month."""
    transactional: UsageLimit
    """Limit and usage of transactional emails in this month."""
    inbound: UsageLimit
    """Limit and usage of received emails in this month."""
    daily: NotRequired[UsageLimit]
    """Emails of today (UTC), for a project that the operator of the service has not approved."""
    currency: Optional[str]
    """Currency of the account, such as `usd`; null without a customer."""


class UsageLimit(TypedDict):
    limit: Optional[int]
    """Maximum number of emails in the period; null for no limit."""
    usage: int
    """Number of emails in the period so far."""
    percentage: int
    """Usage as a whole percentage of the limit; 0 without a limit."""
    isWarning: bool
    """Whether at least 80 percent of the limit are used."""
    isBlocked: bool
    """Whether the limit is reached, so that further emails are refused."""


class BrandKit(TypedDict):
    logoUrl: NotRequired[Optional[str]]
    """URL of the logo; null without one. Default: `null`."""
    logoAlt: NotRequired[str]
    """Text in place of the logo, up to 200 characters. Default: `""`."""
    primaryColor: NotRequired[str]
    """Color of buttons and links, such as `#1f2937`. Default: `"#1f2937"`."""
    textColor: NotRequired[str]
    """Color of text. Default: `"#1f2937"`."""
    backgroundColor: NotRequired[str]
    """Color behind the email. Default: `"#f4f4f5"`."""
    font: NotRequired[Literal["System", "Arial", "Verdana", "Georgia", "Courier"]]
    """Font of the email. Default: `"System"`."""
    footer: NotRequired[str]
    """Lines below every email, up to 2,000 characters, with Liquid variables. Default: `""`."""
    postalAddress: NotRequired[str]
    """Postal address in the footer, up to 500 characters. Default: `""`."""


class BulkJob(TypedDict):
    id: str
    """ID of the job."""
    state: Literal["waiting", "active", "delayed", "completed", "failed"]
    """State of the job; `completed` and `failed` are final."""
    progress: int
    """Progress in percent, from 0 to 100."""
    result: Optional[BulkJobResult]
    """Result of the job; null until it is completed."""
    data: BulkJobData
    """The request that the job was created for."""
    failedReason: Optional[str]
    """Why the job failed as a whole; null unless its state is `failed`."""


class BulkJobResult(TypedDict):
    operation: Literal["subscribe", "unsubscribe", "delete", "add-to-segment", "undo", "enroll"]
    """What the job does to contacts."""
    totalRequested: int
    """Number of contacts that the request selected."""
    successCount: int
    """Number of contacts for which the operation succeeded, including those it did not change."""
    unchangedCount: int
    """Number of contacts that were already in the requested state."""
    failureCount: int
    """Number of contacts for which the operation failed."""
    errors: List[BulkJobResultErrorsItem]
    """The first contacts for which the operation failed."""
    reasons: Dict[str, int]
    """Number of failed contacts, by reason."""


class BulkJobResultErrorsItem(TypedDict):
    contactId: Optional[str]
    """ID of the contact; null when it is unknown."""
    email: Optional[str]
    """Email address of the contact; null when it is unknown."""
    error: str
    """Why the operation failed for the contact."""


class BulkJobData(TypedDict):
    """The request that the job was created for."""
    projectId: str
    """ID of the project."""
    operation: Literal["subscribe", "unsubscribe", "delete", "add-to-segment", "undo", "enroll"]
    """What the job does to contacts."""
    selector: Dict[str, Any]
    """How the contacts were selected: by IDs, by a filter, by an event, or by the job that is undone."""
    segmentId: NotRequired[str]
    """ID of the segment that the contacts are added to; absent for other operations."""
    workflowId: NotRequired[str]
    """ID of the workflow that the contacts enter; absent for other operations."""
    mostPerMinute: NotRequired[Optional[int]]
    """Most contacts that enter the workflow within a minute; null for no limit, absent for other operations."""


class BulkSegmentSelection(TypedDict):
    mode: NotRequired[Literal["ids", "query"]]
    """How contacts are selected. `ids`: by `contactIds`. `query`: by `filter`, without `excludeIds`. Default: `"ids"`."""
    contactIds: NotRequired[List[str]]
    """1 to 1,000 contact IDs; required in mode `ids`."""
    filter: NotRequired[ContactFilter]
    """Contacts to select in mode `query`; all when absent."""
    excludeIds: NotRequired[List[str]]
    """Up to 10,000 IDs of contacts to leave out in mode `query`."""
    segmentId: str
    """ID of the segment to add the contacts to."""


class ContactFilter(TypedDict):
    search: NotRequired[str]
    """Text in the address, in any letter case."""
    subscribed: NotRequired[bool]
    """All when absent."""
    condition: NotRequired[Optional[Condition]]
    """Condition that the contacts must match; null or absent for any contact."""


class BulkSelection(TypedDict):
    mode: NotRequired[Literal["ids", "query"]]
    """How contacts are selected. `ids`: by `contactIds`. `query`: by `filter`, without `excludeIds`. Default: `"ids"`."""
    contactIds: NotRequired[List[str]]
    """1 to 1,000 contact IDs; required in mode `ids`."""
    filter: NotRequired[ContactFilter]
    """Contacts to select in mode `query`; all when absent."""
    excludeIds: NotRequired[List[str]]
    """Up to 10,000 IDs of contacts to leave out in mode `query`."""


class CallMcpFailure(TypedDict):
    jsonrpc: NotRequired[Literal["2.0"]]
    """Version of JSON-RPC: `2.0`; absent in the envelope of other errors."""
    error: CallMcpFailureError
    """Why the request failed, as in JSON-RPC or as in the envelope."""


class CallMcpFailureError(TypedDict):
    """Why the request failed, as in JSON-RPC or as in the envelope."""
    message: str
    """Why the request failed, as a sentence."""


class CallMcpResult(TypedDict):
    jsonrpc: Literal["2.0"]
    """Version of JSON-RPC: `2.0`."""


Campaign = TypedDict(
    "Campaign",
    {
        "id": "str",
        "name": "str",
        "description": "Optional[str]",
        "subject": "str",
        "body": "str",
        "document": "Optional[Dict[str, Any]]",
        "from": "str",
        "fromName": "Optional[str]",
        "replyTo": "Optional[str]",
        "type": "Literal['TRANSACTIONAL', 'MARKETING', 'HEADLESS']",
        "status": "Literal['DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED']",
        "audienceType": "Literal['ALL', 'SEGMENT', 'FILTERED']",
        "audienceCondition": "Optional[Dict[str, Any]]",
        "segmentId": "Optional[str]",
        "scheduledFor": "Optional[str]",
        "totalRecipients": "int",
        "sentCount": "int",
        "deliveredCount": "int",
        "openedCount": "int",
        "clickedCount": "int",
        "bouncedCount": "int",
        "complainedCount": "int",
        "unsubscribedCount": "int",
        "archived": "bool",
        "pausedAt": "Optional[str]",
        "pauseReason": "Optional[str]",
        "resendOf": "Optional[str]",
        "correction": "Optional[EarlierRecipients]",
        "contentVersion": "int",
        "revision": "int",
        "projectId": "str",
        "sentAt": "Optional[str]",
        "createdAt": "str",
        "updatedAt": "str",
    },
)


class CampaignAudienceCount(TypedDict):
    recipients: int
    """Number of contacts that would receive the campaign if it were sent now."""
    unsubscribed: int
    """Number of contacts in the audience that are left out because they are not subscribed."""


class CampaignAudit(TypedDict):
    recipients: int
    """Number of rows in the ledger, one for each recipient."""
    handedOver: int
    """Number of recipients whose email the mail provider accepted."""
    skipped: int
    """Number of recipients skipped on purpose: unsubscribed, suppressed or cancelled."""
    failed: int
    """Number of recipients whose email was refused or given up."""
    unknown: int
    """Number of recipients whose email is unconfirmed: the mail provider may have it, and it is looked up there before anything is sent again."""
    pending: int
    """Number of recipients whose email has not been sent yet."""
    removed: int
    """Number of rows removed because the contact was deleted after the send; 0 while it is under way."""
    notKept: NotRequired[int]
    """Number of recipients whose rows are no longer kept because of their age: they are in the numbers above, and in no list. Absent while all are kept."""
    addsUp: bool
    """Whether the send has ended, every row has a final verdict, and the rows match the campaign’s counters."""
    hash: Optional[str]
    """SHA-256, in hex, of the file that `GET /campaigns/{id}/recipients?format=csv` returns; null until the send has ended, and once rows are no longer kept."""
    hashFormat: int
    """Columns of the hashed file: `2` ends with `version`, `1` does not have that column."""
    reasons: List[CampaignAuditReasonsItem]
    """The ten most frequent reasons of skipped and failed recipients, most frequent first. Recipients’ own addresses are removed from them."""


class CampaignAuditReasonsItem(TypedDict):
    reason: str
    """Why recipients were skipped or failed, such as `Contact is unsubscribed`."""
    count: int
    """Number of recipients with this reason."""


class CampaignCorrection(TypedDict):
    versions: List[int]
    """Versions of the content whose recipients receive the correction, such as `[1]`; up to 100."""
    who: Literal["got", "opened", "clicked"]
    """`got`: all recipients of these versions. `opened`, `clicked`: only those who opened the email or clicked a link in it."""


class CampaignDryRun(TypedDict):
    n: int
    """Number of the dry run, counting from 1 for each campaign."""
    state: Literal["RUNNING", "DONE", "FAILED"]
    """`RUNNING`, then `DONE` or `FAILED`."""
    failedReason: Optional[str]
    """Why the dry run failed; null unless it did."""
    progress: int
    """Share of the audience that has been checked, in percent; 100 when it is done."""
    sample: Union[Literal["all"], int]
    """Number of messages that were requested to be rendered, or `all`."""
    rendered: int
    """Number of messages rendered so far. `missing` and `problems` count among these."""
    audience: int
    """Number of contacts checked so far."""
    wouldSend: int
    """Number of emails that would be sent."""
    leftOut: List[CampaignDryRunLeftOutItem]
    """Contacts that would not receive the campaign, by reason, most frequent first."""
    missing: List[CampaignDryRunMissingItem]
    """Variables that the content uses and contacts lack, most frequent first; up to 50."""
    problems: List[CampaignDryRunProblemsItem]
    """Problems found in rendered messages."""
    byProvider: List[CampaignDryRunByProviderItem]
    """The 20 recipient domains with the most emails."""
    takes: int
    """Shortest time that sending would take, in seconds."""
    room: CampaignDryRunRoom
    """The project’s monthly limit that the send counts against."""
    samples: List[CampaignDryRunSamplesItem]
    """Messages as up to ten contacts would receive them, those with problems first. Empty once the campaign has been changed."""
    fingerprint: Optional[str]
    """Identifies exactly this content, these settings and this audience. Pass it to `POST /campaigns/{id}/send`. Null until the dry run is done."""
    changed: List[str]
    """Fields of content, audience and settings that have changed since the dry run; empty while it is valid."""
    createdAt: str
    """When the dry run was started."""
    finishedAt: Optional[str]
    """When the dry run ended; null while it runs."""
    expiresAt: str
    """When the dry run expires: the campaign can be sent with its fingerprint until then."""


class CampaignDryRunLeftOutItem(TypedDict):
    reason: str
    """Why the contacts would be left out, such as `Contact is unsubscribed`."""
    count: int
    """Number of contacts with this reason."""


class CampaignDryRunMissingItem(TypedDict):
    variable: str
    """The variable as the content names it."""
    contacts: int
    """Number of contacts that lack it."""
    examples: List[CampaignDryRunMissingItemExamplesItem]
    """Up to three contacts that lack it."""


class CampaignDryRunMissingItemExamplesItem(TypedDict):
    contactId: str
    """ID of the contact."""
    email: str
    """Address of the contact."""


class CampaignDryRunProblemsItem(TypedDict):
    kind: Literal["clipped", "empty link", "http image", "no text", "render"]
    """`clipped`: Gmail cuts off HTML above 102 KB. `empty link`: a link without an address. `http image`: an image without TLS. `no text`: no plain-text part. `render`: the message could not be rendered, or only without Liquid."""
    count: int
    """Number of messages with this problem."""
    example: Optional[CampaignDryRunProblemsItemExample]
    """A contact whose message has the problem; null if that contact no longer exists."""


class CampaignDryRunProblemsItemExample(TypedDict):
    contactId: str
    """ID of the contact."""
    email: str
    """Address of the contact."""


class CampaignDryRunByProviderItem(TypedDict):
    domain: str
    """Domain of the recipients’ addresses."""
    count: int
    """Number of emails that would go to it."""


class CampaignDryRunRoom(TypedDict):
    """The project’s monthly limit that the send counts against."""
    limit: Optional[int]
    """Emails allowed per month; null without a limit."""
    left: Optional[int]
    """Emails still allowed this month; null without a limit."""


class CampaignDryRunSamplesItem(TypedDict):
    contactId: str
    """ID of the contact."""
    email: str
    """Address of the contact."""
    subject: str
    """Subject line as this contact would receive it."""
    html: str
    """HTML as this contact would receive it."""
    text: Optional[str]
    """Plain-text part as this contact would receive it; null if there is none."""


class CampaignPage(TypedDict):
    data: List[CampaignWithSegment]
    """Campaigns on this page."""
    page: int
    """Number of this page, from 1."""
    pageSize: int
    """Maximum number of items on a page."""
    total: int
    """Number of items on all pages."""
    totalPages: int
    """Number of pages."""
    archivedCount: int
    """Number of archived campaigns in the project."""


class CampaignRecipient(TypedDict):
    emailId: str
    """ID of the email."""
    contactId: str
    """ID of the contact."""
    email: str
    """Address the email was sent to."""
    verdict: NotRequired[Literal["handed_over", "skipped", "failed", "unknown", "pending"]]
    """`handed_over`: the mail provider accepted the email. `skipped`: not sent on purpose. `failed`: refused or given up. `unknown`: unconfirmed, being looked up at the mail provider. `pending`: not sent yet. Absent with `type`, as everything about sending is."""
    reason: NotRequired[Optional[str]]
    """Why the recipient was skipped or failed, as a sentence; null for other verdicts."""
    heldUntil: NotRequired[Optional[str]]
    """When the quiet hours of the contact end, for which the email is on hold; null for all others."""
    version: NotRequired[Optional[int]]
    """Version of the content that was sent; null if nothing was."""
    messageId: NotRequired[Optional[str]]
    """ID of the message at the mail provider; null if it was not sent."""
    sentAt: NotRequired[Optional[str]]
    """When the mail provider accepted the email; null if it did not."""
    occurredAt: str
    """With `type`, when the email bounced or was reported as spam. With `did`, when it first happened; with `not_opened` and `not_clicked`, when the email was sent. Otherwise when it was sent or, for other verdicts, when the row last changed."""


class CampaignRecipientsPage(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: List[CampaignRecipient]
    """Recipients on this page: rows of the ledger, or, with `type`, recipients whose email bounced or was reported as spam."""
    cursor: NotRequired[str]
    """Pass it as `cursor` to get the next page; absent on the last page."""
    hasMore: bool
    """Whether there is another page. A page may be short even if there is one."""
    total: Optional[int]
    """Number of recipients with the `verdict`, `type` or `did`, from the campaign’s counters, so that it equals the one in `stats`; null where no counter has it: the verdicts `unknown` and `pending`, `not_opened`, `not_clicked`, a `link`, and a `verdict` with `did`."""


class CampaignResults(TypedDict):
    hours: List[CampaignResultsHoursItem]
    """Hours in which anything happened, in UTC, oldest first; up to 336. A recipient counts once in each column."""
    links: List[CampaignResultsLinksItem]
    """Clicked links, most clicked first; up to 200. An entry with an empty `link` adds up all others."""
    earlier: List[CampaignResultsEarlierItem]
    """The five campaigns sent before this one, newest first, for comparison."""


class CampaignResultsHoursItem(TypedDict):
    hour: str
    """When the hour begins."""
    sent: int
    """Number of emails sent in this hour."""
    delivered: int
    """Number of emails delivered in this hour."""
    opened: int
    """Number of recipients who first opened the email in this hour."""
    clicked: int
    """Number of recipients who first clicked a link in this hour."""
    bounced: int
    """Number of emails that bounced in this hour."""


class CampaignResultsLinksItem(TypedDict):
    link: str
    """URL of the link; empty for all links beyond the first 200."""
    clicks: int
    """Number of clicks, including repeated ones."""
    recipients: int
    """Number of recipients who clicked the link."""


class CampaignResultsEarlierItem(TypedDict):
    id: str
    """ID of the earlier campaign."""
    name: str
    """Name of the earlier campaign."""
    sentAt: str
    """When its sending began."""
    sentCount: int
    """Number of its emails that the mail provider accepted."""
    deliveryRate: float
    """Delivered emails as a percentage of `sentCount`."""
    openRate: float
    """Opened emails as a percentage of `sentCount`."""
    clickRate: float
    """Emails with a click as a percentage of `sentCount`."""
    bounceRate: float
    """Permanently bounced emails as a percentage of `sentCount`."""
    unsubscribeRate: float
    """Unsubscribed recipients as a percentage of `sentCount`."""


class CampaignStats(TypedDict):
    totalRecipients: int
    """Number of recipients. Estimated when the campaign is saved, and exact once sending has begun."""
    sentCount: int
    """Number of emails that the mail provider accepted."""
    deliveredCount: int
    """Number of emails that were reported as delivered."""
    openedCount: int
    """Number of emails that were opened at least once."""
    clickedCount: int
    """Number of emails in which at least one link was clicked."""
    bouncedCount: int
    """Number of emails that bounced permanently."""
    complainedCount: int
    """Number of emails that were reported as spam."""
    unsubscribedCount: int
    """Number of recipients who unsubscribed by a link or button of this campaign’s email."""
    skippedCount: int
    """Number of recipients skipped on purpose: unsubscribed, suppressed or cancelled."""
    failedCount: int
    """Number of recipients whose email was refused or given up."""
    pendingCount: int
    """Number of recipients without a result yet; 0 once the send has ended."""
    openRate: float
    """`openedCount` as a percentage of `sentCount`; 0 when nothing was sent."""
    clickRate: float
    """`clickedCount` as a percentage of `sentCount`; 0 when nothing was sent."""
    bounceRate: float
    """`bouncedCount` as a percentage of `sentCount`; 0 when nothing was sent."""
    deliveryRate: float
    """`deliveredCount` as a percentage of `sentCount`; 0 when nothing was sent."""
    complaintRate: float
    """`complainedCount` as a percentage of `sentCount`; 0 when nothing was sent."""
    unsubscribeRate: float
    """`unsubscribedCount` as a percentage of `sentCount`; 0 when nothing was sent."""
    pausedAt: Optional[str]
    """When the campaign was paused; null while it is not paused."""
    held: Optional[str]
    """Why a campaign that is `SENDING` makes no progress, as a sentence for people; null while it does."""
    versions: List[SentVersion]
    """Versions of the content that the current send has used, oldest first."""


class SentVersion(TypedDict):
    version: int
    """Version number of the content, from 1."""
    subject: str
    """Subject line of this version, with Liquid variables."""
    sentCount: int
    """Number of recipients who received this version."""
    replacedAt: Optional[str]
    """When a revision replaced this version; null for the current one."""


class CanaryOptions(TypedDict):
    recipients: int
    """Number of contacts in the slice, 1 to 100,000; fewer than the audience has."""
    hold: NotRequired[str]
    """How long to wait for reports once the slice is sent, such as `90s`, `30m` or `2h`; `72h` at most. Default: `"60m"`."""
    stopIf: NotRequired[CanaryOptionsStopIf]
    """Rates above which the campaign is paused. Default: `{"bounceRate":3,"complaintRate":0.1,"unsubscribeRate":2}`."""
    minDelivered: NotRequired[int]
    """The campaign is paused if fewer emails than this are delivered by the end of the hold. 30% of the slice, at least 1, when absent; use 0 if the mail provider reports no deliveries."""


class CanaryOptionsStopIf(TypedDict):
    """Rates above which the campaign is paused. Default: `{"bounceRate":3,"complaintRate":0.1,"unsubscribeRate":2}`."""
    bounceRate: NotRequired[Optional[float]]
    """Highest permanent bounce rate of the slice, in percent with at most two decimals; null or absent for no limit."""
    complaintRate: NotRequired[Optional[float]]
    """Highest spam complaint rate of the slice, in percent with at most two decimals; null or absent for no limit."""
    unsubscribeRate: NotRequired[Optional[float]]
    """Highest unsubscribe rate of the slice, in percent with at most two decimals; null or absent for no limit."""


class CancelCampaignResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: Campaign
    """The canceled campaign."""
    revertPending: bool
    """`true` when nothing had been sent yet: the campaign becomes a draft again instead of `CANCELLED`."""
    message: str
    """What was done, as a sentence for people."""


class CancelWorkflowExecutionsResult(TypedDict):
    cancelled: int
    """Number of executions canceled."""


class ComputeSegmentResult(TypedDict):
    added: int
    """Number of contacts that entered the segment."""
    removed: int
    """Number of contacts that left the segment."""
    total: int
    """Number of members afterwards."""


class Contact(TypedDict):
    id: str
    """ID of the contact."""
    email: str
    """Email address of the contact, in lower case."""
    subscribed: bool
    """Whether the contact is subscribed to marketing mail."""
    data: Dict[str, Any]
    """Custom fields of the contact, by key."""
    dataOmitted: NotRequired[bool]
    """The data is too large for this answer: `data` is empty here."""
    projectId: str
    """ID of the project."""
    createdAt: str
    """Time at which the contact was created."""
    updatedAt: str
    """Time of the last change of the contact."""


class ContactChange(TypedDict):
    at: str
    """Time of the change."""
    kind: Literal["created", "changed", "deleted", "restored"]
    """What the change was. One that deleted or restored the contact has no fields."""
    created: bool
    """The change created the contact: all of its data is in `after`."""
    cause: ContactChangeCause
    """What made the change."""
    before: Dict[str, Any]
    """Fields that changed, as they were."""
    after: Dict[str, Any]
    """Fields that changed, as they became."""
    subscribed: Optional[ContactChangeSubscribed]
    """The change of the subscription; null when it did not change."""
    email: Optional[ContactChangeEmail]
    """The change of the email address; null when it did not change."""


class ContactChangeCause(TypedDict):
    """What made the change."""
    type: Literal["contact", "field", "segment", "track", "send", "smtp", "inbound", "report", "page", "step", "import", "bulk", "undo", "unknown"]
    """Type of the cause."""
    id: Optional[str]
    """Of the job, of the workflow, of the segment it was added to, or of the mail that led to the change."""
    by: Optional[ContactChangeCauseBy]
    """Who asked for it: a member by address, a key with scopes by name, or the secret key of the project."""


class ContactChangeCauseBy(TypedDict):
    kind: Literal["user", "key", "mcp"]
    """`user`: a member. `key`: an API key. `mcp`: a language model that uses a key."""
    id: Optional[str]
    """ID of the user or of the key with scopes; null for the secret key of the project."""
    name: Optional[str]
    """Email address of the user, or name of the key; null for the secret key of the project."""


class ContactChangeSubscribed(TypedDict):
    before: Optional[bool]
    """Whether the contact was subscribed before; null for a new contact."""
    after: bool
    """Whether the contact was subscribed afterwards."""


class ContactChangeEmail(TypedDict):
    before: str
    """Email address before the change."""
    after: str
    """Email address after the change."""


class ContactExport(TypedDict):
    format: Literal["fernpost-contact/1"]
    """Format of the file: `fernpost-contact/1`."""
    exportedAt: str
    """When the file was created."""
    contact: Contact
    """The contact."""
    segments: List[Dict[str, Any]]
    """Static segments the contact was added to, and dynamic segments it has entered."""
    emails: List[Dict[str, Any]]
    """Emails to and from the contact, with tags and stored content."""
    events: List[Dict[str, Any]]
    """Events of the contact and of its emails."""
    history: List[Dict[str, Any]]
    """Changes of the contact, with their causes."""
    workflowExecutions: List[Dict[str, Any]]
    """Workflow executions, with their steps."""
    imports: List[Dict[str, Any]]
    """Imports and bulk jobs that changed the contact."""


class ContactHistory(TypedDict):
    data: List[ContactChange]
    """Changes of the contact, newest first."""
    cursor: Optional[str]
    """Cursor of the next page; null on the last page."""


class ContactJob(TypedDict):
    id: str
    """ID of the job."""
    kind: Literal["import", "bulk"]
    """`import`, or `bulk` for every other change of many contacts."""
    operation: Literal["import", "subscribe", "unsubscribe", "delete", "add-to-segment", "undo", "enroll"]
    """What it does to contacts."""
    state: Literal["waiting", "active", "delayed", "completed", "failed"]
    """State of the job; `completed` and `failed` are final."""
    progress: int
    """Progress in percent, from 0 to 100."""
    filename: Optional[str]
    """Of an import."""
    counts: ContactJobCounts
    """Rows or contacts so far, by what became of them."""
    failedReason: Optional[str]
    """Why the job failed as a whole; null unless its state is `failed`."""
    by: Optional[ContactJobBy]
    """Who asked for it: a member by address, a key with scopes by name, or the secret key of the project."""
    createdAt: str
    """Time at which the job was created."""
    finishedAt: Optional[str]
    """When it ended."""
    undoes: Optional[str]
    """The job that this one undoes."""
    undoneBy: Optional[str]
    """The latest job that undoes this one."""
    undoUntil: Optional[str]
    """Until when it can be undone; null while it runs, when it was undone, and after that time."""


class ContactJobCounts(TypedDict):
    """Rows or contacts so far, by what became of them."""
    total: int
    """Number of rows or contacts of the job."""
    created: int
    """Rows that created a contact."""
    updated: int
    """Rows or contacts that were changed."""
    unchanged: int
    """Contacts that already were."""
    failed: int
    """Rows or contacts that failed."""


class ContactJobBy(TypedDict):
    kind: Literal["user", "key", "mcp"]
    """`user`: a member. `key`: an API key. `mcp`: a language model that uses a key."""
    id: Optional[str]
    """ID of the user or of the key with scopes; null for the secret key of the project."""
    name: Optional[str]
    """Email address of the user, or name of the key; null for the secret key of the project."""


class ContactJobPage(TypedDict):
    data: List[ContactJob]
    """Jobs of this page, newest first."""
    cursor: Optional[str]
    """Cursor of the next page; null on the last page."""


class ContactPage(TypedDict):
    data: List[Contact]
    """Contacts of this page."""
    cursor: Optional[str]
    """Cursor of the next page; null on the last page."""
    hasMore: bool
    """Whether there is another page."""
    total: int
    """Number of contacts that match, on all pages."""


class ContactView(TypedDict):
    id: str
    """ID of the view."""
    name: str
    """Name of the view."""
    filter: ContactViewFilter
    """The contacts that the view shows."""
    sort: Literal["email", "createdAt", "updatedAt"]
    """What the list is sorted by."""
    dir: Literal["asc", "desc"]
    """Direction of the sort."""
    columns: Optional[List[str]]
    """Columns of the list in their order, or null."""
    createdAt: str
    """Time at which the view was created."""
    updatedAt: str
    """Time of the last change of the view."""


class ContactViewFilter(TypedDict):
    """The contacts that the view shows."""
    search: NotRequired[str]
    """Text in the email address; absent when the view does not search."""
    subscribed: NotRequired[bool]
    """Subscription state of the contacts; absent for both."""
    condition: NotRequired[Optional[Condition]]
    """Condition that the contacts match; null or absent for any contact."""


class ContactViewList(TypedDict):
    data: List[ContactView]
    """Saved views of the project, by name."""


class ContentVersion(TypedDict):
    version: int
    """Version number, counting from 1. Versions that are no longer kept leave gaps."""
    createdAt: str
    """When the version was saved."""
    author: Optional[ContentVersionAuthor]
    """Author of the version; null for content saved before versions were kept."""
    restoredFrom: Optional[int]
    """Number of the version that was restored to make this one; null otherwise."""
    name: str
    """Internal name of the template or campaign in this version."""
    subject: str
    """Subject line in this version, with Liquid variables."""


class ContentVersionAuthor(TypedDict):
    kind: Literal["user", "key", "mcp", "system"]
    """Type of the actor: a member, an API key, a language model that uses a key, or the service itself."""
    id: Optional[str]
    """ID of the user or of the key with scopes; null for the secret key of the project and for the service."""
    name: Optional[str]
    """Email address of the user, or name of the key; null without one."""


class ContentVersionList(TypedDict):
    data: List[ContentVersion]
    """Versions, newest first; up to 100."""


ContentVersionWithContent = TypedDict(
    "ContentVersionWithContent",
    {
        "version": "int",
        "createdAt": "str",
        "author": "Optional[ContentVersionWithContentAuthor]",
        "restoredFrom": "Optional[int]",
        "name": "str",
        "subject": "str",
        "description": "Optional[str]",
        "body": "str",
        "document": "Optional[Dict[str, Any]]",
        "from": "str",
        "fromName": "Optional[str]",
        "replyTo": "Optional[str]",
        "type": "Literal['TRANSACTIONAL', 'MARKETING', 'HEADLESS']",
    },
)


class ContentVersionWithContentAuthor(TypedDict):
    kind: Literal["user", "key", "mcp", "system"]
    """Type of the actor: a member, an API key, a language model that uses a key, or the service itself."""
    id: Optional[str]
    """ID of the user or of the key with scopes; null for the secret key of the project and for the service."""
    name: Optional[str]
    """Email address of the user, or name of the key; null without one."""


class ContinueCampaignFromCanaryResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: CampaignWithSegment
    """The campaign, which is now sent to everyone else."""
    message: str
    """What was done, as a sentence for people."""


class CountCampaignAudienceRequest(TypedDict):
    type: NotRequired[Literal["TRANSACTIONAL", "MARKETING", "HEADLESS"]]
    """Type of the campaign. `TRANSACTIONAL` counts contacts that are not subscribed too. Default: `"MARKETING"`."""
    audienceType: Literal["ALL", "SEGMENT", "FILTERED"]
    """Audience of the campaign: `ALL`, `SEGMENT` or `FILTERED`."""
    audienceCondition: NotRequired[Optional[Dict[str, Any]]]
    """Condition that contacts must match. Required for `FILTERED`."""
    segmentId: NotRequired[Optional[str]]
    """ID of the segment whose members are counted. Required for `SEGMENT`."""


class CountCampaignAudienceResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: CampaignAudienceCount
    """Contacts that the campaign would go to."""


class CountCampaignCorrectionResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: CampaignAudienceCount
    """Contacts that the correction would go to."""


class CountCampaignFollowUpRequest(TypedDict):
    who: Literal["got", "opened", "clicked", "not_opened", "not_clicked"]
    """Recipients of the follow-up. `got`: all recipients of the campaign. `opened`, `clicked`: those who opened it or clicked a link. `not_opened`, `not_clicked`: those who did not. Bounced emails count for `got` only."""


class CountCampaignFollowUpResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: CampaignAudienceCount
    """Contacts that the follow-up would go to."""


class CountRecentActivityResult(TypedDict):
    count: int
    """Number of events, emails and workflow executions created in that time."""
    minutes: int
    """How far back was counted, in minutes."""


class CountWorkflowContactsResult(TypedDict):
    active: int
    """Number of contacts in the workflow now."""
    arriving: int
    """Number of contacts that are about to enter, by an event, a schedule, a date or their creation."""
    invalidDates: int
    """Number of contacts whose value in the field of the trigger `DATE` is not a date, so that they do not enter; 0 for other triggers."""
    steps: List[CountWorkflowContactsResultStepsItem]
    """Steps of the graph, and of older versions that contacts are still in."""


class CountWorkflowContactsResultStepsItem(TypedDict):
    stepId: Optional[str]
    """ID of the step."""
    name: Optional[str]
    """Name of the step; null if only an older version has it."""
    type: Optional[Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "WAIT_UNTIL", "CONDITION", "SPLIT", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]]
    """Type of the step; null if only an older version has it."""
    running: int
    """Number of contacts for which the step is running now."""
    waiting: int
    """Number of contacts waiting at the step now."""
    reached: int
    """Number of times the step was reached, within `days`. A step that was retried counts once."""
    dropped: int
    """Number of these that took no path: the step failed, or the contact was canceled or migrated away."""
    invalidZones: int
    """`WAIT_UNTIL`: number of waits that ended by `fallback` because `data.timezone` was invalid, within `days` and the retention of executions. Contacts who still wait are not among them."""
    branches: List[CountWorkflowContactsResultStepsItemBranchesItem]
    """Number of times each path out of the step was taken, within `days`. May be up to a minute old."""


class CountWorkflowContactsResultStepsItemBranchesItem(TypedDict):
    branch: str
    """Branch of a condition, `EVENT` or `TIMEOUT` of a wait, `success` or `failure` of a webhook, `next` of other steps; `exit:<id>` where an exit of the workflow was met at the step."""
    count: int
    """Number of times the path was taken."""


class CreateCampaignCorrectionRequest(TypedDict):
    versions: List[int]
    """Versions of the content whose recipients receive the correction, such as `[1]`; up to 100."""
    who: Literal["got", "opened", "clicked"]
    """`got`: all recipients of these versions. `opened`, `clicked`: only those who opened the email or clicked a link in it."""
    subject: str
    """Subject line of the correction, with Liquid variables; 1 to 998 characters."""
    body: NotRequired[str]
    """HTML body of the correction, with Liquid variables. Give either `body` or `document`."""
    document: NotRequired[Optional[Dict[str, Any]]]
    """Blocks that the HTML body is compiled from, in place of `body`; see the templates guide."""


class CreateCampaignCorrectionResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: Campaign
    """The draft of the correction."""


class CreateCampaignFollowUpRequest(TypedDict):
    who: Literal["got", "opened", "clicked", "not_opened", "not_clicked"]
    """Recipients of the follow-up. `got`: all recipients of the campaign. `opened`, `clicked`: those who opened it or clicked a link. `not_opened`, `not_clicked`: those who did not. Bounced emails count for `got` only."""
    subject: NotRequired[str]
    """Subject line of the follow-up, with Liquid variables; that of the campaign when absent."""


class CreateCampaignFollowUpResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: Campaign
    """The draft of the follow-up."""


CreateCampaignRequest = TypedDict(
    "CreateCampaignRequest",
    {
        "name": "str",
        "description": "NotRequired[Optional[str]]",
        "subject": "str",
        "body": "NotRequired[str]",
        "document": "NotRequired[Optional[Dict[str, Any]]]",
        "from": "str",
        "fromName": "NotRequired[Optional[str]]",
        "replyTo": "NotRequired[Optional[str]]",
        "audienceType": "Literal['ALL', 'SEGMENT', 'FILTERED']",
        "audienceCondition": "NotRequired[Optional[Dict[str, Any]]]",
        "segmentId": "NotRequired[Optional[str]]",
        "type": "NotRequired[Literal['TRANSACTIONAL', 'MARKETING', 'HEADLESS']]",
    },
)


class CreateCampaignResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: Campaign
    """The new campaign."""


class CreateContactViewRequest(TypedDict):
    name: str
    """Name of the view, 1 to 100 characters."""
    filter: NotRequired[ContactFilter]
    """The contacts that the view shows. Default: `{}`."""
    sort: NotRequired[Literal["email", "createdAt", "updatedAt"]]
    """What to sort by. Default: `"createdAt"`."""
    dir: NotRequired[Literal["asc", "desc"]]
    """Direction of the sort. Default: `"desc"`."""
    columns: NotRequired[Optional[List[str]]]
    """Columns of the list in their order; null keeps each person’s own choice. Default: `null`."""


class CreateSavedBlockRequest(TypedDict):
    name: str
    """Name of the saved block, 1 to 100 characters. It must be unique within the project."""
    content: List[Dict[str, Any]]
    """One or more blocks, in the format of `content` in a `document`."""


class CreateSegmentRequest(TypedDict):
    name: str
    """Name of the segment, 1 to 100 characters."""
    description: NotRequired[Optional[str]]
    """Description of the segment, up to 500 characters."""
    type: NotRequired[Literal["DYNAMIC", "STATIC"]]
    """`DYNAMIC`: contacts that match `condition`. `STATIC`: contacts that you add. Default: `"DYNAMIC"`."""
    condition: NotRequired[Optional[Condition]]
    """Condition of a dynamic segment, which requires one."""
    trackMembership: NotRequired[bool]
    """Whether members are stored, with an event for each entry and exit. Default: `false`."""


CreateTemplateRequest = TypedDict(
    "CreateTemplateRequest",
    {
        "name": "str",
        "description": "NotRequired[Optional[str]]",
        "subject": "str",
        "body": "NotRequired[str]",
        "document": "NotRequired[Optional[Dict[str, Any]]]",
        "from": "str",
        "fromName": "NotRequired[Optional[str]]",
        "replyTo": "NotRequired[Optional[str]]",
        "type": "NotRequired[Literal['TRANSACTIONAL', 'MARKETING', 'HEADLESS']]",
    },
)


CreateWebhookEndpointRequest = TypedDict(
    "CreateWebhookEndpointRequest",
    {
        "url": "str",
        "description": "NotRequired[Optional[str]]",
        "events": "List[str]",
        "from": "NotRequired[str]",
        "payload": "NotRequired[Literal['full', 'thin']]",
        "ordered": "NotRequired[bool]",
    },
)


class CreateWorkflowRequest(TypedDict):
    name: str
    """Name of the workflow, 1 to 255 characters."""
    eventName: NotRequired[Optional[str]]
    """Name of the event that starts the workflow, up to 255 characters. Required for `EVENT` unless it is in `triggerConfig`; ignored otherwise."""
    triggerType: NotRequired[Literal["EVENT", "MANUAL", "SCHEDULE", "CONTACT_CREATED", "DATE"]]
    """How contacts enter: `EVENT` at each event of a name, `MANUAL` by `POST /workflows/{id}/executions`, `SCHEDULE` at the times of a cron expression, `CONTACT_CREATED` when they are created, once each, `DATE` at a date of theirs, such as a birthday. Default: `"EVENT"`."""
    triggerConfig: NotRequired[Optional[Dict[str, Any]]]
    """Configuration of the trigger, up to 256 KiB. `EVENT`: `eventName`, and `where` to test the data of the event. `SCHEDULE`: `schedule` (a cron expression of five fields), `timezone`, and `segmentId`, `audienceCondition` or both. `CONTACT_CREATED`: `audienceCondition`, a condition tree that new contacts must match, and `imports`, `true` for those that an import creates too. `DATE`: `field` with the date, such as `data.birthday`, `offset` and `at` as in `WAIT_UNTIL`, `every` (`year` for each year), `zone` and `fallback`."""
    description: NotRequired[Optional[str]]
    """Description of the workflow, up to 2,000 characters; null or absent for none."""
    allowReentry: NotRequired[bool]
    """Whether a contact can enter again after leaving. Default: `false`."""


class CreateWorkflowStepRequest(TypedDict):
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "WAIT_UNTIL", "CONDITION", "SPLIT", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """Type of the step. `TRIGGER` is created with the workflow and cannot be added."""
    name: str
    """Name of the step."""
    position: CreateWorkflowStepRequestPosition
    """Position of the step on the canvas."""
    config: Dict[str, Any]
    """Configuration of the step, which depends on its type. It may be incomplete until the workflow is enabled."""
    templateId: NotRequired[Optional[str]]
    """ID of the template that a `SEND_EMAIL` step sends; it can also be given in `config`."""
    note: NotRequired[Optional[str]]
    """Note for the people who edit the workflow, up to 2,000 characters; null or empty removes it."""
    autoConnect: NotRequired[bool]
    """Whether the step is connected to the newest open end of the graph. Default: `true`."""


class CreateWorkflowStepRequestPosition(TypedDict):
    """Position of the step on the canvas."""
    x: float
    """Pixels from the left."""
    y: float
    """Pixels from the top."""


class CreateWorkflowTransitionRequest(TypedDict):
    fromStepId: str
    """ID of the step that the transition leaves."""
    toStepId: str
    """ID of the step that the transition leads to."""
    condition: NotRequired[Optional[CreateWorkflowTransitionRequestCondition]]
    """`branch` in the form of earlier clients. Use `branch` instead."""
    branch: NotRequired[Optional[str]]
    """Branch of a condition that takes this transition: `yes`, `no`, or with `mode: "multi"` the `id` of a branch or `default`. Required for conditions."""
    waitOutcome: NotRequired[Optional[Literal["EVENT", "TIMEOUT"]]]
    """Outcome of a wait that takes this transition: `EVENT` or `TIMEOUT`; null or absent for both."""
    priority: NotRequired[int]
    """Position among the transitions of the step, 0 to 1,000,000: lower numbers are tried first. Default: `0`."""


class CreateWorkflowTransitionRequestCondition(TypedDict):
    branch: NotRequired[Optional[str]]
    """Branch of the condition that takes this transition."""


class DeleteCampaignResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    message: str
    """What was done, as a sentence for people."""


class DeleteContactFieldResult(TypedDict):
    deletedFrom: int
    """Number of contacts that the field was removed from."""


class DeleteDomainResult(TypedDict):
    success: Literal[True]
    """Always true."""


class DeleteEventsResult(TypedDict):
    deletedCount: int
    """Number of events that were deleted."""


class DeleteProjectResult(TypedDict):
    success: Literal[True]
    """Always true."""
    message: str
    """What happened, for people."""


class DeleteTemplatesRequest(TypedDict):
    ids: List[str]
    """IDs of the templates to delete, 1 to 1,000. All of them are deleted, or none."""
    delete: NotRequired[bool]
    """`true` deletes the templates. Otherwise the request only checks that they exist."""


DeleteTemplatesResult: TypeAlias = "Union[DeleteTemplatesResultValue, DeleteTemplatesResultValue2]"


class DeleteTemplatesResultValue(TypedDict):
    deleted: int
    """Number of templates deleted, for a request with `delete`."""


class DeleteTemplatesResultValue2(TypedDict):
    updated: int
    """Always 0. No template was changed, because the request did not set `delete`."""


class DeleteWorkflowsRequest(TypedDict):
    ids: List[str]
    """IDs of the workflows to delete, 1 to 1,000. All of them are deleted, or none."""
    delete: NotRequired[bool]
    """`true` deletes the workflows. Otherwise the request only checks that they exist."""


DeleteWorkflowsResult: TypeAlias = "Union[DeleteWorkflowsResultValue, DeleteWorkflowsResultValue2]"


class DeleteWorkflowsResultValue(TypedDict):
    deleted: int
    """Number of workflows deleted, for a request with `delete`."""


class DeleteWorkflowsResultValue2(TypedDict):
    updated: int
    """Always 0. No workflow was changed, because the request did not set `delete`."""


class Deliverability(TypedDict):
    days: List[DeliverabilityDaysItem]
    """Emails by day, oldest first, including days without emails."""
    limits: List[DeliverabilityLimitsItem]
    """All limits, with the project’s current values."""
    pauses: bool
    """Whether a project is disabled at a critical limit (AUTO_PROJECT_DISABLE)."""
    isPaused: bool
    """Whether the project is disabled now."""
    domains: List[DeliverabilityDomainsItem]
    """By domain of the recipients: the 50 with the most complaints and bounces, then with the most emails."""
    providers: List[DeliverabilityProvidersItem]
    """By mailbox provider of the recipients, derived from their domain."""
    countedSince: Optional[str]
    """Start of the time that `domains` and `providers` count, if the period has more than the 50,000 emails they count at most; null otherwise."""


class DeliverabilityDaysItem(TypedDict):
    date: str
    """The day in UTC, such as `2026-03-01`."""
    sent: int
    """Number of emails sent, except to simulators."""
    bounces: int
    """Number of these that bounced permanently."""
    complaints: int
    """Number of these that were reported as spam."""


class DeliverabilityLimitsItem(TypedDict):
    of: Literal["bounces", "complaints"]
    """What is limited."""
    window: Literal["twentyFourHour", "sevenDay", "allTime"]
    """Period whose emails count."""
    unit: Literal["percent", "emails"]
    """Unit of `value`."""
    value: float
    """Current value of the project, in percent or in emails, as `unit` says."""
    warning: DeliverabilityLimitsItemWarning
    """Values from which on the limit warns."""
    critical: DeliverabilityLimitsItemCritical
    """Values from which on the project is disabled if `pauses` is true."""
    level: Literal["healthy", "warning", "critical"]
    """Level that the value has reached."""
    applies: bool
    """Whether the limit applies now: rates from 100 emails on, numbers to projects younger than 30 days."""


class DeliverabilityLimitsItemWarning(TypedDict):
    """Values from which on the limit warns."""
    rate: float
    """Rate in percent; 0 for a limit in emails."""
    count: int
    """Fewest bounces or complaints for the limit to apply."""


class DeliverabilityLimitsItemCritical(TypedDict):
    """Values from which on the project is disabled if `pauses` is true."""
    rate: float
    """Rate in percent; 0 for a limit in emails."""
    count: int
    """Fewest bounces or complaints for the limit to apply."""


class DeliverabilityDomainsItem(TypedDict):
    domain: str
    """Domain of the recipients’ addresses."""
    sent: int
    """Number of emails sent, except to simulators."""
    bounces: int
    """Number of these that bounced permanently."""
    complaints: int
    """Number of these that were reported as spam."""


class DeliverabilityProvidersItem(TypedDict):
    provider: str
    """Mailbox provider, such as `Google`, or `Other`."""
    sent: int
    """Number of emails sent, except to simulators."""
    bounces: int
    """Number of these that bounced permanently."""
    complaints: int
    """Number of these that were reported as spam."""


class DmarcCheck(TypedDict):
    state: Literal["found", "missing", "unanswered", "skipped"]
    """`unanswered` while name servers fail, `skipped` with the mail sandbox, which asks no DNS."""
    name: str
    """Where the record stands, or belongs."""
    record: Optional[str]
    """As the DNS has it now."""
    inheritedFrom: Optional[str]
    """The domain above whose record counts."""
    policy: Optional[Literal["none", "quarantine", "reject"]]
    """What counts for this domain."""
    advice: List[DmarcCheckAdviceItem]
    """The most urgent first."""


class DmarcCheckAdviceItem(TypedDict):
    code: str
    """Such as `MISSING`, `NONE` or `NO_REPORTS`."""
    level: Literal["bad", "warn", "info", "good"]
    """How urgent it is."""
    text: str
    """What is so, and what to do."""
    value: Optional[str]
    """The whole record with the change, to copy."""


class DnsRecord(TypedDict):
    purpose: Literal["DKIM", "RETURN_PATH", "SPF", "DMARC", "INBOUND_MX"]
    """What the record is for."""
    type: Literal["TXT", "CNAME", "MX"]
    """Type of the DNS record."""
    name: str
    """Name of the DNS record."""
    value: str
    """Value of the DNS record."""
    priority: Optional[int]
    """Priority of an `MX` record; null for other types."""
    required: bool
    """Whether the domain needs the record to be verified."""
    status: Literal["pending", "verified", "failed"]
    """Result of the last check of the record."""
    finding: Optional[str]
    """What the last check found, for people; null when the record is right or was not checked."""


class Domain(TypedDict):
    id: str
    """ID of the domain."""
    domain: str
    """Name of the domain, in lower case."""
    verified: bool
    """Whether the domain is verified."""
    approved: bool
    """Whether it may send once it is verified; false while it waits for the operator of the service."""
    status: Literal["NotStarted", "Pending", "Success", "Failed", "TemporaryFailure"]
    """Status of the verification."""
    dkimTokens: List[str]
    """Selectors of the DKIM records."""
    records: List[DnsRecord]
    """DNS records to set."""
    projectId: str
    """ID of the project."""
    project: NotRequired[DomainProject]
    """The project; only where domains of several projects are listed."""
    createdAt: str
    """Time at which the domain was added."""
    updatedAt: str
    """Time of the last change of the domain."""


class DomainProject(TypedDict):
    """The project; only where domains of several projects are listed."""
    name: str
    """Name of the project."""


class DomainCheck(TypedDict):
    domain: str
    """Name of the domain, in lower case."""
    status: Literal["NotStarted", "Pending", "Success", "Failed", "TemporaryFailure"]
    """Status of the verification."""
    verified: bool
    """Whether the domain is verified."""
    records: List[DnsRecord]
    """DNS records to set."""
    tokens: List[str]
    """Selectors of the DKIM records."""


class DuplicateCampaignResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: Campaign
    """The new draft."""
    message: str
    """What was done, as a sentence for people."""


class EditedByKey(TypedDict):
    kind: Literal["key"]
    """`key`: an API key."""


class EditedByUser(TypedDict):
    kind: Literal["user"]
    """`user`: a member of the project."""
    id: str
    """ID of the user."""
    email: str
    """Address of the user."""


Email = TypedDict(
    "Email",
    {
        "id": "str",
        "contact": "EmailContact",
        "to": "str",
        "from": "str",
        "sender": "Optional[EmailSender]",
        "subject": "str",
        "status": "Literal['PENDING', 'SENDING', 'SENT', 'DELIVERED', 'RECEIVED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED', 'FAILED', 'SUPPRESSED', 'CANCELLED']",
        "source": "Literal['TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND']",
        "templateId": "Optional[str]",
        "campaignId": "Optional[str]",
        "workflowExecutionId": "Optional[str]",
        "error": "Optional[str]",
        "errorCode": "Optional[Literal['project_disabled', 'domain_unverified', 'limit_reached', 'not_subscribed', 'unsubscribed', 'campaign_cancelled', 'left_audience', 'left_out_at_review', 'cancelled', 'left_workflow', 'not_rendered', 'refused', 'submission_unknown', 'too_old', 'too_many_attempts', 'provider']]",
        "opens": "int",
        "clicks": "int",
        "scheduledFor": "Optional[str]",
        "heldUntil": "Optional[str]",
        "heldBy": "Optional[Literal['request', 'quietHours']]",
        "createdAt": "str",
        "sentAt": "Optional[str]",
        "fromName": "Optional[str]",
        "replyTo": "Optional[str]",
        "headers": "Optional[Dict[str, str]]",
        "messageId": "Optional[str]",
        "provider": "Optional[str]",
        "attempts": "Optional[int]",
        "lastRefusal": "Optional[str]",
        "suppression": "Optional[Dict[str, Any]]",
        "deliveredAt": "Optional[str]",
        "openedAt": "Optional[str]",
        "clickedAt": "Optional[str]",
        "bouncedAt": "Optional[str]",
        "complainedAt": "Optional[str]",
        "tags": "Dict[str, str]",
        "campaignVersion": "Optional[int]",
        "resendOf": "Optional[str]",
        "resends": "List[str]",
        "timeline": "List[EmailTimelineItem]",
        "body": "NotRequired[Optional[str]]",
        "text": "NotRequired[Optional[str]]",
    },
)


class EmailContact(TypedDict):
    """The recipient; for received emails, the sender."""
    id: str
    """ID of the contact."""
    email: str
    """Current address of the contact."""


class EmailSender(TypedDict):
    email: str
    """Address of the sender."""
    name: Optional[str]
    """Display name of the sender; null if there is none."""


class EmailTimelineItem(TypedDict):
    at: str
    """When it happened."""
    type: str
    """`accepted`, `sent`, `delivery`, `open`, `click`, `bounce`, `complaint`, `failed`, `suppressed` or `cancelled`."""
    detail: Optional[Dict[str, Any]]
    """Details of the event, such as the link of a click; null if there are none."""


class EmailPage(TypedDict):
    data: List[EmailSummary]
    """Emails on this page, newest first; with `scheduled`, soonest first."""
    cursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page."""
    hasMore: bool
    """Whether there is another page. A page may be short or even empty although there is one."""
    lookedBackTo: Optional[str]
    """How far back this page has searched; null on the last page, and with `scheduled`."""


EmailSummary = TypedDict(
    "EmailSummary",
    {
        "id": "str",
        "contact": "EmailSummaryContact",
        "to": "str",
        "from": "str",
        "sender": "Optional[EmailSummarySender]",
        "subject": "str",
        "status": "Literal['PENDING', 'SENDING', 'SENT', 'DELIVERED', 'RECEIVED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED', 'FAILED', 'SUPPRESSED', 'CANCELLED']",
        "source": "Literal['TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND']",
        "templateId": "Optional[str]",
        "campaignId": "Optional[str]",
        "workflowExecutionId": "Optional[str]",
        "error": "Optional[str]",
        "errorCode": "Optional[Literal['project_disabled', 'domain_unverified', 'limit_reached', 'not_subscribed', 'unsubscribed', 'campaign_cancelled', 'left_audience', 'left_out_at_review', 'cancelled', 'left_workflow', 'not_rendered', 'refused', 'submission_unknown', 'too_old', 'too_many_attempts', 'provider']]",
        "opens": "int",
        "clicks": "int",
        "scheduledFor": "Optional[str]",
        "heldUntil": "Optional[str]",
        "heldBy": "Optional[Literal['request', 'quietHours']]",
        "createdAt": "str",
        "sentAt": "Optional[str]",
    },
)


class EmailSummaryContact(TypedDict):
    """The recipient; for received emails, the sender."""
    id: str
    """ID of the contact."""
    email: str
    """Current address of the contact."""


class EmailSummarySender(TypedDict):
    email: str
    """Address of the sender."""
    name: Optional[str]
    """Display name of the sender; null if there is none."""


class EnrollContactsRequest(TypedDict):
    segmentId: NotRequired[str]
    """Enrolls the members of this segment."""
    condition: NotRequired[Condition]
    """Enrolls contacts that match this condition."""
    event: NotRequired[EnrollContactsRequestEvent]
    """Enrolls contacts that this event happened to. The data of their latest one is `trigger.<key>` and `event.<key>` in the workflow."""
    mostPerMinute: NotRequired[int]
    """Most contacts that enter within a minute, 1 to 100,000; no limit when absent."""
    dryRun: NotRequired[bool]
    """`true` returns how many contacts would enter, and changes nothing. Default: `false`."""


class EnrollContactsRequestEvent(TypedDict):
    """Enrolls contacts that this event happened to. The data of their latest one is `trigger.<key>` and `event.<key>` in the workflow."""
    name: str
    """Name of the event."""
    since: str
    """Events at this instant or later."""
    where: NotRequired[EventTests]
    """Tests of the data of the event, 1 to 5; all must pass."""


EventTests: TypeAlias = "List[ConditionEventTest]"


EnrollContactsResult: TypeAlias = "Union[WorkflowEnrollPreview, QueuedJob]"


class WorkflowEnrollPreview(TypedDict):
    dryRun: Literal[True]
    """Always `true`: nothing was changed."""
    contacts: int
    """Number of contacts that the request selects."""
    enters: int
    """Number of contacts that would enter."""
    reasons: Dict[str, int]
    """Number of contacts that would not, by reason."""


class QueuedJob(TypedDict):
    message: str
    """What happens next, for people."""
    jobId: str
    """ID of the job; use it to read its progress."""


class EraseContactRequest(TypedDict):
    reference: NotRequired[Optional[str]]
    """Your reason, for your own records, such as a ticket number; up to 200 characters. It is stored and signed, so leave personal data out."""
    keepSuppressed: NotRequired[bool]
    """Whether requests are refused to store the address or send to it again. Imports never bring it back either way. Default: `true`."""


class Erasure(TypedDict):
    id: str
    """ID of the erasure."""
    contactId: str
    """ID that the erased contact had."""
    subject: str
    """HMAC-SHA-256 of the address, with a key of the project."""
    reference: Optional[str]
    """Reference given in the request; null if there was none."""
    keepSuppressed: bool
    """Whether the request asked to refuse the address from now on."""
    suppressed: bool
    """Whether the address is refused now. An owner can lift that."""
    status: Literal["RUNNING", "WAITING", "DONE"]
    """`RUNNING`, `WAITING` while another system still keeps data although nothing is left here, or `DONE` once the certificate is final."""
    requestedAt: str
    """When the erasure was requested."""
    erasedAt: Optional[str]
    """When nothing was left here; null before."""
    steps: List[ErasureStepsItem]
    """What was erased, system by system."""
    ledgersChanged: List[ErasureLedgersChangedItem]
    """Final ledgers of campaigns whose hash the erasure changed."""
    mentions: List[ErasureMentionsItem]
    """Content and other contacts’ data that names the address. It was not changed: edit it yourself."""
    certificate: Optional[ErasureCertificate]
    """Signed record of the erasure; null until nothing is left here."""


class ErasureStepsItem(TypedDict):
    system: str
    """System that was erased from: Postgres, the mail sandbox, the mail provider, backups or Temporal."""
    what: str
    """What was emptied or deleted, or is waited for."""
    rows: Optional[int]
    """Number of rows or messages; null where they cannot be counted."""
    state: Literal["running", "done", "waiting"]
    """`running`, `done`, or `waiting` while another system still keeps the data, until the time in `until`."""
    at: Optional[str]
    """When the step was done; null before."""
    until: Optional[str]
    """When the other system deletes the data; null if nothing is waited for."""


class ErasureLedgersChangedItem(TypedDict):
    campaignId: str
    """ID of the campaign."""
    sendSeq: int
    """Number of the send of the campaign, counting from 1."""
    hashBefore: str
    """SHA-256 of the ledger’s CSV file before the erasure, in hex."""
    hashAfter: str
    """SHA-256 of the ledger’s CSV file after the erasure, in hex."""


class ErasureMentionsItem(TypedDict):
    type: str
    """What names the address, such as a template, a campaign or another contact."""
    count: int
    """Number of items of this type that name the address."""
    ids: List[str]
    """IDs of these items; up to 20."""


class ErasureCertificate(TypedDict):
    json: str
    """Signed text. Verify it as it is, byte for byte."""
    signature: str
    """Ed25519 signature of the text, in base64."""
    publicKey: str
    """Public key that verifies the signature, as PEM. It is the same for all erasures of the project."""


class ErasurePage(TypedDict):
    data: List[Erasure]
    """Erasures on this page, newest first."""
    cursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page."""


class ErasureVerification(TypedDict):
    valid: bool
    """Whether the certificate was signed with the project’s key, and nothing is left."""
    signed: bool
    """Whether the signature matches the text."""
    keyOfProject: bool
    """Whether the key is the project’s key."""
    left: List[ErasureVerificationLeftItem]
    """What is found now under the ID of the contact; empty if nothing is."""


class ErasureVerificationLeftItem(TypedDict):
    what: str
    """What was found."""
    rows: int
    """Number of rows found."""


class Error(TypedDict):
    success: Literal[False]
    """Always false."""
    error: ErrorDetails
    """The error."""
    timestamp: str
    """Time of the response."""


class Event(TypedDict):
    id: str
    """ID of the event."""
    name: str
    """Name of the event."""
    data: Optional[Dict[str, Any]]
    """Data of the event; null when there is none."""
    dataOmitted: NotRequired[bool]
    """The data is too large for this answer: `data` is null here."""
    projectId: str
    """ID of the project."""
    contactId: Optional[str]
    """ID of the contact; null for an event of no contact."""
    emailId: Optional[str]
    """ID of the email that the event is about; null for none."""
    createdAt: str
    """Time at which the event was recorded."""


class EventToRecord(TypedDict):
    email: NotRequired[str]
    """Email address of the contact, beside `event`; a new address creates a contact."""
    event: NotRequired[str]
    """Name of the event of the contact with this `email`. Needs `email`; ignored with `name`."""
    subscribed: NotRequired[bool]
    """Whether the contact is subscribed to marketing mail; absent leaves an existing contact unchanged."""
    data: NotRequired[Optional[Dict[str, Any]]]
    """Data of the event."""
    name: NotRequired[str]
    """Name of the event, up to 255 characters; `event` without it."""
    contactId: NotRequired[Optional[str]]
    """ID of the contact; null or absent for an event of no contact."""
    emailId: NotRequired[Optional[str]]
    """ID of the email that the event is about; null or absent for none."""


class EventUsage(TypedDict):
    usedInSegments: List[EventUsageUsedInSegmentsItem]
    """Segments whose conditions use the event."""
    usedInWorkflows: List[EventUsageUsedInWorkflowsItem]
    """Workflows that use the event."""
    totalCount: int
    """Number of times the event occurred."""
    uniqueContacts: int
    """Number of contacts with the event."""
    canDelete: bool
    """Whether the event can be deleted, because nothing uses it."""


class EventUsageUsedInSegmentsItem(TypedDict):
    id: str
    """ID of the segment or workflow."""
    name: str
    """Name of the segment or workflow."""


class EventUsageUsedInWorkflowsItem(TypedDict):
    id: str
    """ID of the segment or workflow."""
    name: str
    """Name of the segment or workflow."""


class ExplainRequest(TypedDict):
    contact: str
    """ID or email address of the contact."""
    about: Union[ExplainRequestAbout, ExplainRequestAbout2, ExplainRequestAbout3, ExplainRequestAbout4]
    """What to explain: a campaign, a workflow, an email, or `"topic": "any"`."""
    at: NotRequired[str]
    """Time to explain, as an ISO 8601 instant; now when absent."""


class ExplainRequestAbout(TypedDict):
    campaignId: str
    """ID of the campaign to explain."""


class ExplainRequestAbout2(TypedDict):
    workflowId: str
    """ID of the workflow to explain."""


class ExplainRequestAbout3(TypedDict):
    emailId: str
    """ID of the email to explain."""


class ExplainRequestAbout4(TypedDict):
    topic: Literal["any"]
    """`any` explains the contact’s latest email, and whatever keeps emails from it."""


class Explanation(TypedDict):
    verdict: Literal["received", "sent", "will", "did_not", "will_not", "cannot_tell"]
    """Result: `received`, `sent`, `will` receive it, `did_not` receive it, `will_not` receive it, or `cannot_tell`."""
    sentence: str
    """The result as a sentence for people."""
    contact: ExplanationContact
    """The contact that was asked about."""
    decisions: List[ExplanationDecision]
    """Decisions in the order in which they are made. The first `stop` is the reason."""
    next: Optional[ExplanationNext]
    """What happens next; null if nothing."""
    fixes: List[ExplanationFixesItem]
    """Requests that would change the result."""
    permalink: str
    """Identifies the question. `GET /explain/{permalink}` asks it again."""


class ExplanationContact(TypedDict):
    """The contact that was asked about."""
    id: str
    """ID of the contact."""
    email: str
    """Address of the contact."""


class ExplanationDecision(TypedDict):
    at: Optional[str]
    """When it was decided; null if it was evaluated for this response."""
    check: str
    """Check that was made, such as `contact.existed` or `mail.suppressed`."""
    outcome: Literal["pass", "stop", "info"]
    """`pass`, `stop` if the check kept the contact from receiving it, or `info`."""
    sentence: str
    """The decision as a sentence for people."""
    expected: Any
    """Value that the check needed; null if there is none."""
    actual: Any
    """Value that the check found; null if there is none."""
    basis: Literal["recorded", "evaluated"]
    """`recorded` when it happened, or `evaluated` for this response."""
    dataAsOf: Optional[str]
    """Age of the data that was evaluated; null for recorded decisions."""
    source: Optional[ExplanationDecisionSource]
    """Object that the decision comes from; null if it has no page."""


class ExplanationDecisionSource(TypedDict):
    type: str
    """Type of the object, such as `segment`."""
    id: str
    """ID of the object."""
    href: str
    """Path of its page in the dashboard."""


class ExplanationNext(TypedDict):
    at: Optional[str]
    """When it happens; null if that is not known."""
    what: str
    """What happens, as a sentence."""


class ExplanationFixesItem(TypedDict):
    sentence: str
    """What the request does, as a sentence."""
    method: Literal["POST", "PATCH", "PUT"]
    """HTTP method of the request."""
    path: str
    """Path of the request."""
    body: Dict[str, Any]
    """JSON body of the request."""


class ExportContactsRequest(TypedDict):
    filter: NotRequired[ContactFilter]
    """The contacts to export; all when absent."""
    contactIds: NotRequired[List[str]]
    """Only these contacts, of those that the filter leaves."""
    excludeIds: NotRequired[List[str]]
    """Contacts to leave out. Default: `[]`."""
    columns: NotRequired[List[str]]
    """`email`, `subscribed`, `createdAt`, `updatedAt`, `id` or `data.<key>`, in the order of the file. Default: `["email","subscribed","createdAt"]`."""


ExportEmailsRequest = TypedDict(
    "ExportEmailsRequest",
    {
        "contactId": "NotRequired[str]",
        "to": "NotRequired[str]",
        "tag": "NotRequired[str]",
        "status": "NotRequired[Literal['PENDING', 'SENDING', 'SENT', 'DELIVERED', 'RECEIVED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED', 'FAILED', 'SUPPRESSED', 'CANCELLED']]",
        "source": "NotRequired[Literal['TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND']]",
        "subject": "NotRequired[str]",
        "from": "NotRequired[str]",
        "until": "NotRequired[str]",
    },
)


class GetActivityStatsResult(TypedDict):
    totalEvents: int
    """Number of events tracked."""
    totalEmailsSent: int
    """Number of emails created or received, except suppressed ones."""
    totalEmailsHandedOver: int
    """Number of these that the mail provider accepted, or that were received. Pending emails, and campaign recipients who were skipped or failed, do not count."""
    totalEmailsDelivered: int
    """Number of these that the recipient’s server accepted."""
    totalEmailsOpened: int
    """Number of these that were opened at least once."""
    totalEmailsClicked: int
    """Number of these in which at least one link was clicked."""
    totalEmailsBounced: int
    """Number of these that bounced permanently."""
    totalWorkflowsStarted: int
    """Number of workflow executions started."""
    openRate: float
    """`totalEmailsOpened` as a percentage of `totalEmailsSent`; 0 when nothing was sent."""
    clickRate: float
    """`totalEmailsClicked` as a percentage of `totalEmailsSent`; 0 when nothing was sent."""


class GetCampaignAuditResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: CampaignAudit
    """The ledger of the current send, counted by verdict."""


class GetCampaignAveragesResult(TypedDict):
    total: int
    """Number of campaigns created in the window."""
    active: int
    """Number of these that are drafts or scheduled."""
    completed: int
    """Number of campaigns sent in the window."""
    averageOpenRate: float
    """Opened emails of the sent campaigns, as a percentage of all their emails; one decimal."""
    averageClickRate: float
    """Clicked emails of the sent campaigns, as a percentage of all their emails; one decimal."""


class GetCampaignDryRunResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: CampaignDryRun
    """The dry run."""


class GetCampaignResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: CampaignWithSegment
    """The campaign."""


class GetCampaignStatsResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: CampaignStats
    """Counts and rates of the campaign."""


class GetCampaignVersionResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: ContentVersionWithContent
    """The version with its content."""


class GetContactFieldUsageResult(TypedDict):
    usedInSegments: List[GetContactFieldUsageResultUsedInSegmentsItem]
    """Segments whose conditions use the field."""
    usedInCampaigns: List[GetContactFieldUsageResultUsedInCampaignsItem]
    """Campaigns that use the field."""
    usedInWorkflows: List[GetContactFieldUsageResultUsedInWorkflowsItem]
    """Workflows that use the field."""
    contactCount: int
    """Number of contacts with a value in the field."""
    canDelete: bool
    """Whether the field can be deleted, because nothing uses it."""


class GetContactFieldUsageResultUsedInSegmentsItem(TypedDict):
    id: str
    """ID of the segment, campaign or workflow."""
    name: str
    """Name of the segment, campaign or workflow."""


class GetContactFieldUsageResultUsedInCampaignsItem(TypedDict):
    id: str
    """ID of the segment, campaign or workflow."""
    name: str
    """Name of the segment, campaign or workflow."""


class GetContactFieldUsageResultUsedInWorkflowsItem(TypedDict):
    id: str
    """ID of the segment, campaign or workflow."""
    name: str
    """Name of the segment, campaign or workflow."""


class GetContactHoldoutResult(TypedDict):
    heldOut: bool
    """Whether the contact is in the control group, which gets no marketing email."""
    until: Optional[str]
    """When the control group ends by itself; null for never, and for contacts outside of it."""


class GetImageUsageResult(TypedDict):
    templates: List[GetImageUsageResultTemplatesItem]
    """Templates whose body contains the image, newest first; up to 100."""
    campaigns: List[GetImageUsageResultCampaignsItem]
    """Campaigns whose body contains the image, newest first; up to 100."""
    searchedCampaigns: int
    """How many of the newest campaigns were searched. Older ones are not searched."""


class GetImageUsageResultTemplatesItem(TypedDict):
    id: str
    """ID of the template."""
    name: str
    """Name of the template."""


class GetImageUsageResultCampaignsItem(TypedDict):
    id: str
    """ID of the campaign."""
    name: str
    """Name of the campaign."""
    status: str
    """Status of the campaign: `DRAFT`, `SCHEDULED`, `SENDING`, `SENT` or `CANCELLED`."""


GetMailByDayResult: TypeAlias = "List[GetMailByDayResultValueItem]"


class GetMailByDayResultValueItem(TypedDict):
    date: str
    """Midnight (UTC) at which the day begins."""
    emails: int
    """Number of emails created on this day."""
    opens: int
    """Number of these that were opened at least once."""
    clicks: int
    """Number of these in which at least one link was clicked."""
    bounces: int
    """Number of these that bounced permanently."""
    delivered: int
    """Number of these that were reported as delivered."""


class GetProjectAuditLogResult(TypedDict):
    data: List[GetProjectAuditLogResultDataItem]
    """Entries of this page, newest first."""
    cursor: Optional[str]
    """Cursor of the next page; null on the last page."""


class GetProjectAuditLogResultDataItem(TypedDict):
    id: str
    """ID of the entry."""
    position: int
    """Position of the entry in the log of the project; positions have no gaps."""
    at: str
    """Time of the change."""
    actor: GetProjectAuditLogResultDataItemActor
    """Who made the change."""
    action: str
    """What was done, such as `campaign.sent`."""
    target: Optional[str]
    """ID of what was changed; null when the action has no target."""
    before: Optional[Dict[str, Any]]
    """Changed values before the change, never secrets; null for none."""
    after: Optional[Dict[str, Any]]
    """Changed values after the change, never secrets; null for none."""
    requestId: Optional[str]
    """`X-Request-ID` of the request; null for changes without a request."""
    ipHash: Optional[str]
    """Keyed hash of the caller's IP address, the same for requests from one address; null without one."""


class GetProjectAuditLogResultDataItemActor(TypedDict):
    """Who made the change."""
    kind: Literal["user", "key", "mcp", "system"]
    """Type of the actor: a member, an API key, a language model that uses a key, or the service itself."""
    id: Optional[str]
    """ID of the user or of the key with scopes; null for the secret key of the project and for the service."""
    name: Optional[str]
    """Email address of the user, or name of the key; null without one."""


class GetProjectAuditLogVerifyResult(TypedDict):
    valid: bool
    """Whether every entry is unchanged and none is missing."""
    entries: int
    """Number of entries that were checked."""
    missing: int
    """Number of missing entries; entries older than 400 days do not count."""
    firstChanged: Optional[GetProjectAuditLogVerifyResultFirstChanged]
    """The first entry that does not match the entries after it; null when all do."""


class GetProjectAuditLogVerifyResultFirstChanged(TypedDict):
    id: str
    """ID of the entry."""
    position: int
    """Position of the entry in the log."""


class GetProjectReputationResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: ProjectReputation
    """How the project’s emails are received."""


class ProjectReputation(TypedDict):
    status: ProjectReputationStatus
    """Rates of the project and what is wrong with them."""
    levels: ProjectReputationLevels
    """Level of each rate: `healthy`, `warning` or `critical`."""
    isDisabled: bool
    """Whether the project is disabled, so that it sends no emails."""


class ProjectReputationStatus(TypedDict):
    """Rates of the project and what is wrong with them."""
    projectId: str
    """ID of the project."""
    isHealthy: bool
    """Whether no rate or number has reached a critical limit."""
    shouldDisable: bool
    """Whether a critical limit has been reached; the opposite of `isHealthy`."""
    twentyFourHour: ProjectReputationStatusTwentyFourHour
    """Always 0. `GET /deliverability` returns emails by day."""
    sevenDay: ProjectReputationStatusSevenDay
    """Emails of the last seven days."""
    allTime: ProjectReputationStatusAllTime
    """Emails since the project was created."""
    isNewProject: bool
    """Always `false`. `GET /deliverability` returns the limits of new projects."""
    violations: List[str]
    """Critical limits that have been reached, as sentences."""
    warnings: List[str]
    """Warning limits that have been reached, as sentences."""


class ProjectReputationStatusTwentyFourHour(TypedDict):
    """Always 0. `GET /deliverability` returns emails by day."""
    total: int
    """Number of emails sent."""
    bounces: int
    """Number of emails that bounced permanently."""
    complaints: int
    """Number of emails that were reported as spam."""
    bounceRate: float
    """Permanent bounces as a percentage of `total`; 0 when nothing was sent."""
    complaintRate: float
    """Spam complaints as a percentage of `total`; 0 when nothing was sent."""


class ProjectReputationStatusSevenDay(TypedDict):
    """Emails of the last seven days."""
    total: int
    """Number of emails sent."""
    bounces: int
    """Number of emails that bounced permanently."""
    complaints: int
    """Number of emails that were reported as spam."""
    bounceRate: float
    """Permanent bounces as a percentage of `total`; 0 when nothing was sent."""
    complaintRate: float
    """Spam complaints as a percentage of `total`; 0 when nothing was sent."""


class ProjectReputationStatusAllTime(TypedDict):
    """Emails since the project was created."""
    total: int
    """Number of emails sent."""
    bounces: int
    """Number of emails that bounced permanently."""
    complaints: int
    """Number of emails that were reported as spam."""
    bounceRate: float
    """Permanent bounces as a percentage of `total`; 0 when nothing was sent."""
    complaintRate: float
    """Spam complaints as a percentage of `total`; 0 when nothing was sent."""


class ProjectReputationLevels(TypedDict):
    """Level of each rate: `healthy`, `warning` or `critical`."""
    bounce7Day: Literal["healthy", "warning", "critical"]
    """Level of the bounce rate of the last seven days."""
    bounceAllTime: Literal["healthy", "warning", "critical"]
    """Level of the bounce rate since the project was created."""
    complaint7Day: Literal["healthy", "warning", "critical"]
    """Level of the complaint rate of the last seven days."""
    complaintAllTime: Literal["healthy", "warning", "critical"]
    """Level of the complaint rate since the project was created."""


class GetProjectResult(TypedDict):
    success: Literal[True]
    """Always true."""
    data: ProjectSummary
    """The project."""


class ProjectSummary(TypedDict):
    id: str
    """ID of the project."""
    name: str
    """Name of the project."""
    defaultSenderDomain: Optional[str]
    """Verified domain that is suggested for senders; null without one."""
    createdAt: str
    """Time at which the project was created."""


class GetProjectSetupStateResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: GetProjectSetupStateResultData
    """What is set up."""


class GetProjectSetupStateResultData(TypedDict):
    """What is set up."""
    hasSubscription: bool
    """Whether the project has a paid subscription."""
    hasVerifiedDomain: bool
    """Whether the project has a verified and approved sender domain."""
    contactCount: int
    """Number of contacts in the project."""
    lastCampaignSentAt: Optional[str]
    """When the last campaign was sent; null if none was."""
    hasEnabledWorkflow: bool
    """Whether a workflow is enabled."""
    publicKeyMode: Literal["contract", "hardened"]
    """How the public key is limited. `hardened` is recommended as soon as browsers or apps use the key."""
    links: GetProjectSetupStateResultDataLinks
    """Other pages of this deployment; null where they cannot be opened from elsewhere."""


class GetProjectSetupStateResultDataLinks(TypedDict):
    """Other pages of this deployment; null where they cannot be opened from elsewhere."""
    inbox: Optional[str]
    """URL of the mail sandbox; null with any other mail provider."""
    temporal: Optional[str]
    """URL of the executions in Temporal’s Web UI; null where it cannot be opened from elsewhere."""


class GetTemplateUsageResult(TypedDict):
    workflowSteps: int
    """Number of workflow steps that send the template."""
    emailsSent: int
    """Number of emails created from the template, including emails not sent yet."""
    steps: List[GetTemplateUsageResultStepsItem]
    """Workflow steps that send the template, by the age of their workflow."""
    campaigns: List[Any]
    """Always empty. A campaign has content of its own and does not refer to templates."""


class GetTemplateUsageResultStepsItem(TypedDict):
    id: str
    """ID of the step."""
    name: str
    """Name of the step."""
    type: str
    """Type of the step: `SEND_EMAIL`."""
    workflowId: str
    """ID of the workflow that the step belongs to."""
    workflowName: str
    """Name of that workflow."""


class Holdout(TypedDict):
    percent: float
    """Share of contacts in the control group, in percent with up to 2 decimals; 0 without one."""
    until: Optional[str]
    """When the control group ends by itself; null for never."""
    active: bool
    """Whether contacts are held out at the moment."""


class ImagePage(TypedDict):
    images: List[ImagePageImagesItem]
    """Uploaded images, newest first."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page."""


class ImagePageImagesItem(TypedDict):
    id: str
    """ID of the image."""
    url: str
    """Public URL of the image, for use in emails. It never changes."""
    key: str
    """Key of the file in the image store."""
    filename: str
    """File name as the client sent it."""
    contentType: str
    """Media type, detected from the file: `image/jpeg`, `image/png`, `image/gif` or `image/webp`."""
    size: int
    """Size of the file in bytes."""
    createdAt: str
    """When the image was uploaded."""


class ImportJob(TypedDict):
    id: str
    """ID of the job."""
    state: Literal["waiting", "active", "delayed", "completed", "failed"]
    """State of the job; `completed` and `failed` are final."""
    progress: int
    """Progress in percent, from 0 to 100."""
    result: Optional[ImportJobResult]
    """Result of the import; null until it is completed."""
    data: ImportJobData
    """The request that the job was created for."""
    failedReason: Optional[str]
    """Why the job failed as a whole; null unless its state is `failed`."""


class ImportJobResult(TypedDict):
    totalRows: int
    """Number of rows in the file."""
    successCount: int
    """Rows that were imported, including those that changed nothing."""
    createdCount: int
    """Rows that created a contact."""
    updatedCount: int
    """Rows that updated a contact."""
    unchangedCount: int
    """Rows that changed nothing."""
    failureCount: int
    """Rows that were refused."""
    errors: List[ImportJobResultErrorsItem]
    """The first rows that were refused."""
    reasons: Dict[str, int]
    """Number of refused rows, by reason."""


class ImportJobResultErrorsItem(TypedDict):
    row: int
    """Line of the row in the file."""
    email: Optional[str]
    """Email address in the row; null when there is none."""
    error: str
    """Why the row was refused."""


class ImportJobData(TypedDict):
    """The request that the job was created for."""
    projectId: str
    """ID of the project."""
    filename: str
    """Name of the uploaded file."""
    segmentId: NotRequired[str]
    """ID of the segment that the contacts are added to; absent without one."""
    subscribeNew: NotRequired[bool]
    """False when new contacts were not subscribed unless the file said so; absent otherwise."""
    consentSource: NotRequired[str]
    """Where the consent of the contacts that the import subscribed comes from."""


class ImportPreview(TypedDict):
    totalRows: int
    """Number of rows in the file."""
    createdCount: int
    """Rows that would create a contact."""
    updatedCount: int
    """Rows that would update a contact."""
    unchangedCount: int
    """Rows that would change nothing."""
    failureCount: int
    """Rows that would be refused."""
    repeatedCount: int
    """Rows that repeat an address of the file; they are counted as updated or unchanged as well."""
    repeatedUpdatedCount: int
    """Rows of `updatedCount` that repeat an address of the file."""
    newSubscribedCount: int
    """New contacts who would be subscribed."""
    resubscribedCount: int
    """Existing contacts who are not subscribed and would be."""
    unsubscribedCount: int
    """Contacts who are subscribed and would no longer be."""
    updates: List[ImportPreviewUpdatesItem]
    """The first contacts that change, with the fields that differ."""
    errors: List[ImportPreviewErrorsItem]
    """The first rows that would be refused."""
    reasons: Dict[str, int]
    """Number of refused rows, by reason."""


class ImportPreviewUpdatesItem(TypedDict):
    row: int
    """Line of the row in the file."""
    email: str
    """Email address of the contact."""
    subscribed: Optional[bool]
    """What the subscription changes to; null when it stays."""
    before: Dict[str, Any]
    """Fields that would change, with their current values."""
    after: Dict[str, Any]
    """Fields that would change, with their new values."""


class ImportPreviewErrorsItem(TypedDict):
    row: int
    """Line of the row in the file."""
    email: Optional[str]
    """Email address in the row; null when there is none."""
    error: str
    """Why the row would be refused."""


class InsertWorkflowStepRequest(TypedDict):
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "WAIT_UNTIL", "CONDITION", "SPLIT", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """Type of the step. `TRIGGER` is created with the workflow and cannot be added."""
    name: str
    """Name of the step."""
    position: NotRequired[Optional[InsertWorkflowStepRequestPosition]]
    """Position of the step on the canvas; halfway between its neighbors when absent."""
    config: Dict[str, Any]
    """Configuration of the step, which depends on its type. It may be incomplete until the workflow is enabled."""
    templateId: NotRequired[Optional[str]]
    """ID of the template that a `SEND_EMAIL` step sends; it can also be given in `config`."""
    note: NotRequired[Optional[str]]
    """Note for the people who edit the workflow, up to 2,000 characters; null or empty removes it."""


class InsertWorkflowStepRequestPosition(TypedDict):
    x: float
    """Pixels from the left."""
    y: float
    """Pixels from the top."""


class Invitation(TypedDict):
    id: str
    """ID of the invitation."""
    email: str
    """Email address that was invited."""
    role: Literal["MEMBER", "ADMIN", "OWNER"]
    """Role that the member will have."""
    invitedBy: Optional[str]
    """Email address of the member who sent the invitation; null when that account no longer exists."""
    createdAt: str
    """Time at which the invitation was created."""
    expiresAt: str
    """Time at which the invitation expires."""


class InvoiceList(TypedDict):
    invoices: List[InvoiceListInvoicesItem]
    """Invoices of the project, newest first."""
    hasUnpaidInvoices: bool
    """Whether any invoice is unpaid."""
    unpaidInvoices: List[InvoiceListUnpaidInvoicesItem]
    """The unpaid invoices."""


class InvoiceListInvoicesItem(TypedDict):
    id: str
    """ID of the invoice at the payment processor."""
    number: Optional[str]
    """Number of the invoice; null for a draft."""
    status: Optional[str]
    """Status of the invoice at the payment processor, such as `open` or `paid`; null without one."""
    amountDue: int
    """Amount due, in the smallest unit of the currency."""
    amountPaid: int
    """Amount paid so far, in the smallest unit of the currency."""
    currency: str
    """Currency of the invoice, such as `usd`."""
    created: str
    """Time at which the invoice was created."""
    periodStart: str
    """Start of the billing period."""
    periodEnd: str
    """End of the billing period."""
    hostedInvoiceUrl: Optional[str]
    """URL of the invoice's page at the payment processor; null without one."""
    invoicePdf: Optional[str]
    """URL of the invoice as PDF; null without one."""
    subtotal: int
    """Amount before taxes, in the smallest unit of the currency."""
    total: int
    """Total amount, in the smallest unit of the currency."""
    paid: bool
    """Whether the invoice is paid."""


class InvoiceListUnpaidInvoicesItem(TypedDict):
    id: str
    """ID of the invoice at the payment processor."""
    number: Optional[str]
    """Number of the invoice; null for a draft."""
    amountDue: int
    """Amount due, in the smallest unit of the currency."""
    currency: str
    """Currency of the invoice, such as `usd`."""
    dueDate: Optional[str]
    """Time at which the invoice is due; null without one."""
    hostedInvoiceUrl: Optional[str]
    """URL of the invoice's page at the payment processor; null without one."""


class ListActivityTypesResult(TypedDict):
    types: List[str]
    """Types of activities, for `types` in `GET /activity`."""


class ListCampaignResultsResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: CampaignResults
    """Results of the current send."""


class ListCampaignVersionsResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: List[ContentVersion]
    """Versions of the campaign, newest first; up to 100."""


class ListContactEventsResult(TypedDict):
    events: List[Event]
    """Events of the contact, newest first."""


class ListContactExecutionsResult(TypedDict):
    data: List[ListContactExecutionsResultDataItem]
    """The contact’s latest executions, newest first; up to 100."""


class ListContactExecutionsResultDataItem(TypedDict):
    id: str
    """ID of the execution."""
    workflowId: str
    """ID of the workflow."""
    contactId: str
    """ID of the contact."""
    status: Literal["RUNNING", "WAITING", "COMPLETED", "EXITED", "FAILED", "CANCELLED"]
    """`RUNNING` or `WAITING` while it is active, then `COMPLETED`, `EXITED`, `FAILED` or `CANCELLED`."""
    currentStepId: Optional[str]
    """ID of the step that the contact is at, or at which the execution ended; null once it is `COMPLETED`."""
    exitReason: Optional[str]
    """Why the execution ended as `EXITED`, `FAILED` or `CANCELLED`; null otherwise."""
    context: Optional[Dict[str, Any]]
    """Data of the event or request that started the execution; null if there was none."""
    startedAt: str
    """When the contact entered the workflow."""
    completedAt: Optional[str]
    """When the execution ended; null while it is active."""
    createdAt: str
    """When the execution was created."""
    updatedAt: str
    """When the execution last changed."""
    contact: ListContactExecutionsResultDataItemContact
    """The contact in the workflow."""
    currentStep: Optional[ListContactExecutionsResultDataItemCurrentStep]
    """The step in `currentStepId`; null if there is none."""
    currentStepSince: Optional[str]
    """When the contact reached that step; null if there is none."""
    workflow: ListContactExecutionsResultDataItemWorkflow
    """The workflow that the execution belongs to."""


class ListContactExecutionsResultDataItemContact(TypedDict):
    """The contact in the workflow."""
    id: str
    """ID of the contact."""
    email: str
    """Address of the contact."""
    name: Optional[str]
    """Name of the contact by its data: first and last name, else `name`, `fullName` or `displayName`; null if it has none."""


class ListContactExecutionsResultDataItemCurrentStep(TypedDict):
    id: str
    """ID of the step."""
    name: str
    """Name of the step."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "WAIT_UNTIL", "CONDITION", "SPLIT", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """Type of the step."""


class ListContactExecutionsResultDataItemWorkflow(TypedDict):
    """The workflow that the execution belongs to."""
    id: str
    """ID of the workflow."""
    name: str
    """Name of the workflow."""


class ListContactFieldValuesResult(TypedDict):
    field: str
    """Name of the field, as in the request."""
    values: List[Union[str, float, bool]]
    """Distinct values in their stored JSON type, in ascending order of their text."""
    count: int
    """Number of values in this response."""
    limit: int
    """The limit that was applied; there may be further values when `count` reaches it."""


class ListContactFieldsResult(TypedDict):
    fields: List[ListContactFieldsResultFieldsItem]
    """Fields of the project's contacts."""
    count: int
    """Number of fields."""


class ListContactFieldsResultFieldsItem(TypedDict):
    field: str
    """Name of the field: `email`, `subscribed`, `createdAt`, `updatedAt` or `data.<key>`."""
    type: Literal["string", "number", "boolean", "date"]
    """Type of its values."""
    isCustom: bool
    """Whether the field is a key of contact data; false for built-in fields."""
    coverage: int
    """Share of contacts with a value, as a whole percentage from 0 to 100."""


class ListContactSegmentsResult(TypedDict):
    data: List[ListContactSegmentsResultDataItem]
    """Segments that the contact is in now."""


class ListContactSegmentsResultDataItem(TypedDict):
    id: str
    """ID of the segment."""
    name: str
    """Name of the segment."""
    type: Literal["DYNAMIC", "STATIC"]
    """Type of the segment."""
    enteredAt: Optional[str]
    """When it entered; null where the segment keeps no memberships."""


class ListEventNamesResult(TypedDict):
    eventNames: List[str]
    """Names of the project's events, most frequent first."""


class ListEventsResult(TypedDict):
    events: List[ListEventsResultEventsItem]
    """Events of the project, newest first."""


class ListEventsResultEventsItem(TypedDict):
    id: str
    """ID of the event."""
    name: str
    """Name of the event."""
    data: Optional[Dict[str, Any]]
    """Data of the event; null when there is none."""
    dataOmitted: NotRequired[bool]
    """The data is too large for this answer: `data` is null here."""
    projectId: str
    """ID of the project."""
    contactId: Optional[str]
    """ID of the contact; null for an event of no contact."""
    emailId: Optional[str]
    """ID of the email that the event is about; null for none."""
    createdAt: str
    """Time at which the event was recorded."""
    contact: Optional[ListEventsResultEventsItemContact]
    """The contact of the event; null when there is none."""


class ListEventsResultEventsItemContact(TypedDict):
    email: str
    """Email address of the contact."""


class ListInvitationsResult(TypedDict):
    data: List[Invitation]
    """Open invitations of the project."""


class ListProjectMembersResult(TypedDict):
    success: Literal[True]
    """Always true."""
    data: List[ListedMember]
    """Members of the project."""


class ListedMember(TypedDict):
    userId: str
    """ID of the user."""
    email: str
    """Email address of the user."""
    role: Literal["MEMBER", "ADMIN", "OWNER"]
    """Role in the project."""
    createdAt: str
    """Time at which the user joined the project."""


class ListProjectSummariesResult(TypedDict):
    success: Literal[True]
    """Always true."""
    data: Union[ProjectSummary, List[ProjectSummary]]
    """The project of the key, or the projects of the session."""


class ListRunningActivityResult(TypedDict):
    data: List[ListRunningActivityResultDataItem]
    """What is running, newest first; up to 50."""
    hold: Optional[SendingHold]
    """Why emails of the project are waiting for the mail provider; null while they are not."""


class ListRunningActivityResultDataItem(TypedDict):
    type: Literal["campaign", "import", "bulk", "migration"]
    """What is running: a `campaign`, a contact `import`, a `bulk` change of contacts, or a `migration` of a workflow’s contacts."""
    id: str
    """ID of the campaign or the job; for a `migration`, ID of the workflow."""
    name: Optional[str]
    """Name of the campaign or the workflow, file name of an import, or operation of a bulk job; null if there is none."""
    progress: Optional[float]
    """Progress in percent; null before there is anything to count."""
    isPaused: bool
    """Whether the campaign is paused; always `false` for other types."""
    startedAt: str
    """When it started."""


class ListSegmentContactsResult(TypedDict):
    data: List[Contact]
    """Members of this page."""
    page: int
    """Number of this page, from 1."""
    pageSize: int
    """Maximum number of items on a page."""
    total: int
    """Number of items on all pages."""
    totalPages: int
    """Number of pages."""


class ListSuppressedEmailsResult(TypedDict):
    emails: List[ListSuppressedEmailsResultEmailsItem]
    """Suppressed emails, newest first."""
    nextCursor: Optional[str]
    """Cursor of the next page; null on the last page."""


class ListSuppressedEmailsResultEmailsItem(TypedDict):
    id: str
    """ID of the email."""
    createdAt: str
    """Time at which the email was created."""
    recipientAddress: str
    """Email address of the recipient."""
    subject: str
    """Subject as it was sent, with its variables."""
    renderedSubject: str
    """Subject with its variables filled in."""
    suppression: SuppressionMatch
    """Why the email was suppressed."""
    status: str
    """Status of the email."""


class SuppressionMatch(TypedDict):
    ruleId: str
    """ID of the rule that matches."""
    name: str
    """Name of the rule at the time of the match."""
    kind: Literal["ADDRESS", "DOMAIN", "PREFIX", "SUFFIX", "WILDCARD", "KEY", "HOLDOUT"]
    """Kind of the rule at the time of the match. `KEY`: the sending key may not reach the recipient, and `ruleId` is the ID of that key. `HOLDOUT`: the contact is in the control group of the project, and `ruleId` is the ID of the project."""
    pattern: str
    """Pattern of the rule at the time of the match."""
    recipient: str
    """Email address that the rule matched."""
    matchedAt: str
    """Time of the match."""


class ListUpcomingActivityResult(TypedDict):
    activities: List[Activity]
    """Upcoming activities, soonest first."""


class ListWorkflowExecutionsResult(TypedDict):
    executions: List[ListedWorkflowExecution]
    """Executions on this page, newest first."""
    data: List[ListedWorkflowExecution]
    """The same list as `executions`."""
    page: int
    """Number of this page, from 1."""
    pageSize: int
    """Maximum number of items on a page."""
    total: int
    """Number of items on all pages."""
    totalPages: int
    """Number of pages."""


class ListedWorkflowExecution(TypedDict):
    id: str
    """ID of the execution."""
    workflowId: str
    """ID of the workflow."""
    contactId: str
    """ID of the contact."""
    status: Literal["RUNNING", "WAITING", "COMPLETED", "EXITED", "FAILED", "CANCELLED"]
    """`RUNNING` or `WAITING` while it is active, then `COMPLETED`, `EXITED`, `FAILED` or `CANCELLED`."""
    currentStepId: Optional[str]
    """ID of the step that the contact is at, or at which the execution ended; null once it is `COMPLETED`."""
    exitReason: Optional[str]
    """Why the execution ended as `EXITED`, `FAILED` or `CANCELLED`; null otherwise."""
    context: Optional[Dict[str, Any]]
    """Data of the event or request that started the execution; null if there was none."""
    startedAt: str
    """When the contact entered the workflow."""
    completedAt: Optional[str]
    """When the execution ended; null while it is active."""
    createdAt: str
    """When the execution was created."""
    updatedAt: str
    """When the execution last changed."""
    contact: ListedWorkflowExecutionContact
    """The contact in the workflow."""
    currentStep: Optional[ListedWorkflowExecutionCurrentStep]
    """The step in `currentStepId`; null if there is none."""
    currentStepSince: Optional[str]
    """When the contact reached that step; null if there is none."""


class ListedWorkflowExecutionContact(TypedDict):
    """The contact in the workflow."""
    id: str
    """ID of the contact."""
    email: str
    """Address of the contact."""
    name: Optional[str]
    """Name of the contact by its data: first and last name, else `name`, `fullName` or `displayName`; null if it has none."""


class ListedWorkflowExecutionCurrentStep(TypedDict):
    id: str
    """ID of the step."""
    name: str
    """Name of the step."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "WAIT_UNTIL", "CONDITION", "SPLIT", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """Type of the step."""


class ListWorkflowFieldsResult(TypedDict):
    fields: List[str]
    """Names of the fields."""
    typedFields: List[ListWorkflowFieldsResultTypedFieldsItem]
    """The same fields with their types."""
    count: int
    """Number of fields."""


class ListWorkflowFieldsResultTypedFieldsItem(TypedDict):
    field: str
    """Name of the field, such as `contact.email` or `event.total`."""
    type: str
    """Type of the values: `string`, `number`, `boolean` or `date`."""
    category: str
    """`Contact Fields`, `Custom Data` for data of the contact, or `Event Data`."""


class ListWorkflowVersionsResult(TypedDict):
    data: List[ListWorkflowVersionsResultDataItem]
    """Versions on this page, newest first."""
    page: int
    """Number of this page, from 1."""
    pageSize: int
    """Maximum number of items on a page."""
    total: int
    """Number of items on all pages."""
    totalPages: int
    """Number of pages."""


class ListWorkflowVersionsResultDataItem(TypedDict):
    version: int
    """Version number, counting from 1."""
    createdAt: str
    """When the version was published."""
    isCurrent: bool
    """Whether contacts that enter now get this version."""
    steps: int
    """Number of steps in the version."""
    active: int
    """Number of contacts in the workflow that have this version."""
    share: float
    """Share of new contacts who get this version, in percent."""


class ListWorkflowsResult(TypedDict):
    data: List[ListWorkflowsResultDataItem]
    """Workflows on this page."""
    page: int
    """Number of this page, from 1."""
    pageSize: int
    """Maximum number of items on a page."""
    total: int
    """Number of items on all pages."""
    totalPages: int
    """Number of pages."""
    hasMore: bool
    """Whether there is another page."""
    cursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page."""


ListWorkflowsResultDataItem = TypedDict(
    "ListWorkflowsResultDataItem",
    {
        "id": "str",
        "projectId": "str",
        "name": "str",
        "description": "Optional[str]",
        "enabled": "bool",
        "triggerType": "Literal['EVENT', 'MANUAL', 'SCHEDULE', 'CONTACT_CREATED', 'DATE']",
        "triggerConfig": "Optional[Dict[str, Any]]",
        "allowReentry": "bool",
        "pausedAt": "Optional[str]",
        "createdAt": "str",
        "updatedAt": "str",
        "_count": "ListWorkflowsResultDataItemCount",
    },
)


class ListWorkflowsResultDataItemCount(TypedDict):
    """Numbers of steps and executions of the workflow."""
    steps: int
    """Number of steps."""
    executions: int
    """Number of executions, including those that have ended."""


class LookupContactsRequest(TypedDict):
    emails: List[str]
    """1 to 500 email addresses, in any letter case."""


class LookupContactsResult(TypedDict):
    found: List[str]
    """Addresses that belong to a contact, in the spelling and order of the request."""
    notFound: List[str]
    """Addresses that belong to no contact, in the spelling and order of the request."""


class MigrateWorkflowRequest(TypedDict):
    dryRun: NotRequired[bool]
    """`true` returns how many contacts each rule matches, and changes nothing. Default: `false`."""
    plan: NotRequired[List[MigrateWorkflowRequestPlanItem]]
    """Rules by the step that contacts are at, up to 1,000. Default: `[]`."""
    otherwise: NotRequired[MigrateWorkflowRequestOtherwise]
    """Rule for contacts at any other step. Default: `{"action":"finish"}`."""


class MigrateWorkflowRequestPlanItem(TypedDict):
    stepId: str
    """ID of the step in an older version that the rule is for."""
    action: Literal["finish", "moveAtNextStep", "moveNow", "exit"]
    """`finish`: stay with the version to the end. `moveAtNextStep`: continue in the new graph after the current step. `moveNow`: move to `toStepId` at once. `exit`: leave the workflow."""
    toStepId: NotRequired[Optional[str]]
    """Step of the new graph to move to. Required for `moveNow`."""
    reason: NotRequired[Optional[str]]
    """Reason that executions end with, for `exit`; up to 200 characters."""


class MigrateWorkflowRequestOtherwise(TypedDict):
    """Rule for contacts at any other step. Default: `{"action":"finish"}`."""
    action: Literal["finish", "moveAtNextStep", "moveNow", "exit"]
    """`finish`: stay with the version to the end. `moveAtNextStep`: continue in the new graph after the current step. `moveNow`: move to `toStepId` at once. `exit`: leave the workflow."""
    toStepId: NotRequired[Optional[str]]
    """Step of the new graph to move to. Required for `moveNow`."""
    reason: NotRequired[Optional[str]]
    """Reason that executions end with, for `exit`; up to 200 characters."""


MigrateWorkflowResult: TypeAlias = "Union[WorkflowMigrationPreview, WorkflowMigration]"


class WorkflowMigrationPreview(TypedDict):
    dryRun: Literal[True]
    """Always `true`: nothing was changed."""
    toVersion: int
    """Number of the version that contacts would be migrated to."""
    people: int
    """Number of contacts in the workflow that have another version."""
    rules: List[WorkflowMigrationPreviewRulesItem]
    """Rules of the plan, with the number of contacts that each matches."""


class WorkflowMigrationPreviewRulesItem(TypedDict):
    stepId: Optional[str]
    """ID of the step that contacts are at; null if they have not reached one."""
    stepName: Optional[str]
    """Name of that step; null if it is unknown."""
    stepType: Optional[Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "WAIT_UNTIL", "CONDITION", "SPLIT", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]]
    """Type of that step; null if it is unknown."""
    action: Literal["finish", "moveAtNextStep", "moveNow", "exit"]
    """What the rule does: `finish`, `moveAtNextStep`, `moveNow` or `exit`."""
    toStepId: Optional[str]
    """ID of the step that contacts would move to; null if the rule names none."""
    people: int
    """Number of contacts at the step."""


class WorkflowMigration(TypedDict):
    id: str
    """ID of the migration."""
    workflowId: str
    """ID of the workflow."""
    state: Literal["waiting", "active", "completed", "cancelled", "failed"]
    """`waiting`, `active`, then `completed`, `cancelled` or `failed`."""
    toVersion: int
    """Number of the version that contacts are migrated to."""
    progress: int
    """Share of `expected` that has been processed, in percent; 100 when it is completed."""
    expected: int
    """Number of contacts that the plan matched when the migration began."""
    finished: int
    """Number of contacts that stay with their version to the end."""
    movedAtNextStep: int
    """Number of contacts that continue in the new graph after their current step."""
    movedNow: int
    """Number of contacts that were moved at once."""
    exited: int
    """Number of contacts that left the workflow by the plan."""
    passedOver: int
    """Number of contacts that their rule could not be applied to. They stay with their version."""
    failedReason: Optional[str]
    """Why the migration failed; null unless it did."""
    createdAt: str
    """When the migration was requested."""
    updatedAt: str
    """When the migration last made progress."""
    completedAt: Optional[str]
    """When the migration ended; null while it runs."""


class OwnProject(TypedDict):
    id: str
    """ID of the project."""
    name: str
    """Name of the project."""
    public: Optional[str]
    """Public key; null when it cannot be decrypted."""
    secret: Optional[str]
    """Secret key; null when it cannot be decrypted, and for members where `hideSecretKey` is true."""
    disabled: bool
    """Whether the project is disabled: reads work, writes are refused."""
    disabledReason: Optional[Literal["REPUTATION", "PAYMENT_FAILED", "CONTENT", "MANUAL"]]
    """Why the project is disabled; null while it is not."""
    customer: Optional[str]
    """ID of the customer at the payment processor; null without one."""
    subscription: Optional[str]
    """ID of the subscription at the payment processor; null without one."""
    billingLimitWorkflows: Optional[int]
    """Monthly limit of workflow emails; null for no limit."""
    billingLimitCampaigns: Optional[int]
    """Monthly limit of campaign emails; null for no limit."""
    billingLimitTransactional: Optional[int]
    """Monthly limit of transactional emails; null for no limit."""
    billingLimitInbound: Optional[int]
    """Monthly limit of received emails; null for no limit."""
    tracking: Literal["ENABLED", "DISABLED", "MARKETING_ONLY"]
    """Whether opens and clicks are tracked; `MARKETING_ONLY` excludes transactional email."""
    language: str
    """Language of recipient pages and footers, such as `en` or `pt-BR`."""
    timeZone: Optional[str]
    """Time zone in which the team sets times, such as `Europe/Berlin`; null for none."""
    quietHours: Optional[QuietHours]
    """Hours in which email of workflows and campaigns waits; null for none."""
    emailRetentionDays: Optional[int]
    """Days for which email is kept; null for as long as the deployment keeps it."""
    eventRetentionDays: Optional[int]
    """Days for which events are kept; null for as long as the deployment keeps it."""
    executionRetentionDays: Optional[int]
    """Days for which ended executions of workflows are kept; null for as long as the deployment keeps it."""
    escapeContactData: bool
    """Whether values of contact data are HTML-escaped in email."""
    hideSecretKey: bool
    """Whether only admins and the owner see the secret key."""
    approvalAbove: Optional[int]
    """Number of contacts above which a campaign of a member, or of a key with scopes, needs the approval of an admin; null for none."""
    testAddresses: List[str]
    """Addresses beside those of members that may get tests of campaigns and templates, such as a seed list."""
    publicKeyMode: Literal["contract", "hardened"]
    """`contract`: the public key shares the rate limit and the idempotency keys of the project. `hardened`: it has its own."""
    publicKeyRequestsPerMinute: int
    """Requests per minute of the public key while `publicKeyMode` is `hardened`; never above the limit of the project."""
    createdAt: str
    """Time at which the project was created."""
    updatedAt: str
    """Time of the last change of the project."""
    role: Literal["MEMBER", "ADMIN", "OWNER"]
    """Your role in the project."""


QuietHours = TypedDict(
    "QuietHours",
    {
        "from": "str",
        "to": "str",
        "days": "NotRequired[Optional[List[int]]]",
        "types": "NotRequired[List[Literal['MARKETING', 'HEADLESS']]]",
    },
)


class PauseCampaignResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: CampaignWithSegment
    """The paused campaign."""
    message: str
    """What was done, as a sentence for people."""


class PaymentPage(TypedDict):
    url: str
    """URL of the page at the payment processor; open it in a browser."""


class PreviewSegmentRequest(TypedDict):
    condition: NotRequired[Optional[Condition]]
    """Condition to preview."""
    limit: NotRequired[int]
    """How many of the newest contacts to return; 0 to count only. Default: `10`."""


class PreviewSegmentResult(TypedDict):
    total: int
    """Number of contacts that match."""
    contacts: List[Contact]
    """The newest contacts that match, at most `limit`."""


class PreviewSuppressionRulesRequest(TypedDict):
    address: str
    """Email address to check."""


class PreviewSuppressionRulesResult(TypedDict):
    suppressed: bool
    """Whether mail to the address would be suppressed."""
    match: Optional[PreviewSuppressionRulesResultMatch]
    """The rule that matches; null when none does."""


class PreviewSuppressionRulesResultMatch(TypedDict):
    ruleId: str
    """ID of the rule that matches."""
    name: str
    """Name of the rule at the time of the match."""
    kind: Literal["ADDRESS", "DOMAIN", "PREFIX", "SUFFIX", "WILDCARD"]
    """Kind of the rule at the time of the match."""
    pattern: str
    """Pattern of the rule at the time of the match."""
    recipient: str
    """Email address that the rule matched."""
    matchedAt: str
    """Time of the match."""


class PreviewTemplateRequest(TypedDict):
    subject: str
    """Subject line to render, with Liquid variables; 1 to 998 characters."""
    body: str
    """HTML body to render, with Liquid variables; up to 2,000,000 characters."""
    type: NotRequired[Literal["TRANSACTIONAL", "MARKETING", "HEADLESS"]]
    """Type to render as. `MARKETING` adds the unsubscribe footer. Default: `"MARKETING"`."""
    contactId: NotRequired[Optional[str]]
    """ID of the contact whose data fills in the variables; absent or null for none."""
    data: NotRequired[Optional[Dict[str, Any]]]
    """Values for the variables, as `data` in `POST /v1/send`. They take precedence over the contact’s data and are not stored. With neither `data` nor `contactId`, variables are left as they are."""


class PreviewTemplateResult(TypedDict):
    subject: str
    """Rendered subject line."""
    html: str
    """Rendered HTML, including the footer if there is one."""
    text: Optional[str]
    """Plain-text part derived from the HTML; null if there is none."""


class Project(TypedDict):
    id: str
    """ID of the project."""
    name: str
    """Name of the project."""
    public: Optional[str]
    """Public key; null when it cannot be decrypted."""
    secret: Optional[str]
    """Secret key; null when it cannot be decrypted, and for members where `hideSecretKey` is true."""
    disabled: bool
    """Whether the project is disabled: reads work, writes are refused."""
    disabledReason: Optional[Literal["REPUTATION", "PAYMENT_FAILED", "CONTENT", "MANUAL"]]
    """Why the project is disabled; null while it is not."""
    customer: Optional[str]
    """ID of the customer at the payment processor; null without one."""
    subscription: Optional[str]
    """ID of the subscription at the payment processor; null without one."""
    billingLimitWorkflows: Optional[int]
    """Monthly limit of workflow emails; null for no limit."""
    billingLimitCampaigns: Optional[int]
    """Monthly limit of campaign emails; null for no limit."""
    billingLimitTransactional: Optional[int]
    """Monthly limit of transactional emails; null for no limit."""
    billingLimitInbound: Optional[int]
    """Monthly limit of received emails; null for no limit."""
    tracking: Literal["ENABLED", "DISABLED", "MARKETING_ONLY"]
    """Whether opens and clicks are tracked; `MARKETING_ONLY` excludes transactional email."""
    language: str
    """Language of recipient pages and footers, such as `en` or `pt-BR`."""
    timeZone: Optional[str]
    """Time zone in which the team sets times, such as `Europe/Berlin`; null for none."""
    quietHours: Optional[QuietHours]
    """Hours in which email of workflows and campaigns waits; null for none."""
    emailRetentionDays: Optional[int]
    """Days for which email is kept; null for as long as the deployment keeps it."""
    eventRetentionDays: Optional[int]
    """Days for which events are kept; null for as long as the deployment keeps it."""
    executionRetentionDays: Optional[int]
    """Days for which ended executions of workflows are kept; null for as long as the deployment keeps it."""
    escapeContactData: bool
    """Whether values of contact data are HTML-escaped in email."""
    hideSecretKey: bool
    """Whether only admins and the owner see the secret key."""
    approvalAbove: Optional[int]
    """Number of contacts above which a campaign of a member, or of a key with scopes, needs the approval of an admin; null for none."""
    testAddresses: List[str]
    """Addresses beside those of members that may get tests of campaigns and templates, such as a seed list."""
    publicKeyMode: Literal["contract", "hardened"]
    """`contract`: the public key shares the rate limit and the idempotency keys of the project. `hardened`: it has its own."""
    publicKeyRequestsPerMinute: int
    """Requests per minute of the public key while `publicKeyMode` is `hardened`; never above the limit of the project."""
    createdAt: str
    """Time at which the project was created."""
    updatedAt: str
    """Time of the last change of the project."""


class ProjectOverview(TypedDict):
    setup: ProjectOverviewSetup
    """How far the project is set up."""
    hasSent: bool
    """Whether the project has ever sent or received an email."""
    running: ListRunningActivityResult
    """What is being worked on, as `GET /activity/running` returns it."""
    totals: GetActivityStatsResult
    """Totals of the last 30 days."""
    days: GetMailByDayResult
    """Mail by day of the last 60 days, oldest first: those of `totals`, and as many before to compare them with."""
    reputation: ProjectReputation
    """How the project’s emails are received."""
    campaigns: List[ProjectOverviewCampaignsItem]
    """The three campaigns that were sent last, newest first."""
    recent: List[Activity]
    """The latest 30 activities, newest first."""
    upcoming: List[Activity]
    """The next eight scheduled campaigns and workflow emails, soonest first."""


class ProjectOverviewSetup(TypedDict):
    """How far the project is set up."""
    hasSubscription: bool
    """Whether the project has a paid subscription."""
    hasVerifiedDomain: bool
    """Whether the project has a verified and approved sender domain."""
    contactCount: int
    """Number of contacts in the project."""
    lastCampaignSentAt: Optional[str]
    """When the last campaign was sent; null if none was."""
    hasEnabledWorkflow: bool
    """Whether a workflow is enabled."""
    publicKeyMode: Literal["contract", "hardened"]
    """How the public key is limited. `hardened` is recommended as soon as browsers or apps use the key."""
    links: ProjectOverviewSetupLinks
    """Other pages of this deployment; null where they cannot be opened from elsewhere."""


class ProjectOverviewSetupLinks(TypedDict):
    """Other pages of this deployment; null where they cannot be opened from elsewhere."""
    inbox: Optional[str]
    """URL of the mail sandbox; null with any other mail provider."""
    temporal: Optional[str]
    """URL of the executions in Temporal’s Web UI; null where it cannot be opened from elsewhere."""


class ProjectOverviewCampaignsItem(TypedDict):
    id: str
    """ID of the campaign."""
    name: str
    """Name of the campaign."""
    sentAt: Optional[str]
    """When the campaign was sent."""
    sentCount: int
    """Number of emails that the mail provider accepted."""
    openedCount: int
    """Number of emails that were opened at least once."""
    clickedCount: int
    """Number of emails in which at least one link was clicked."""


class RefreshSegmentResult(TypedDict):
    memberCount: int
    """Number of members now."""


class RegenerateProjectKeysResult(TypedDict):
    id: str
    """ID of the project."""
    name: str
    """Name of the project."""
    createdAt: str
    """Time at which the project was created."""
    updatedAt: str
    """Time of the last change of the project."""
    disabled: bool
    """Whether the project is disabled: reads work, writes are refused."""
    customer: Optional[str]
    """ID of the customer at the payment processor; null without one."""
    subscription: Optional[str]
    """ID of the subscription at the payment processor; null without one."""
    public: str
    """New public key."""
    secret: str
    """New secret key."""


class RemoveSegmentMembersRequest(TypedDict):
    emails: List[str]
    """Email addresses of the contacts to remove."""


class RemoveSegmentMembersResult(TypedDict):
    removed: int
    """Number of contacts that were removed from the segment."""


class ReplaceWorkflowGraphRequest(TypedDict):
    steps: List[ReplaceWorkflowGraphRequestStepsItem]
    """All steps of the new graph. Steps that are left out are deleted."""
    transitions: List[CreateWorkflowTransitionRequest]
    """All transitions of the new graph."""
    exits: NotRequired[Optional[List[WorkflowExit]]]
    """What ends executions early, up to 20; absent leaves it, null removes all."""
    goal: NotRequired[Optional[WorkflowGoal]]
    """What the workflow is for; absent leaves it, null removes it."""
    migrate: NotRequired[Optional[ReplaceWorkflowGraphRequestMigrate]]
    """Plan for contacts that are already in the workflow; null or absent leaves them in their version."""
    rollout: NotRequired[Optional[RolloutOptions]]
    """Gives the new graph to a share of new contacts first, while the others get the version that was published before; null or absent publishes it for all."""
    dryRun: NotRequired[bool]
    """`true` returns what would happen, and changes nothing. Default: `false`."""


class ReplaceWorkflowGraphRequestStepsItem(TypedDict):
    id: str
    """ID of an existing step to keep it; any other text names a new step within this request. 1 to 100 characters."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "WAIT_UNTIL", "CONDITION", "SPLIT", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """Type of the step. The graph needs its `TRIGGER`."""
    name: str
    """Name of the step."""
    position: ReplaceWorkflowGraphRequestStepsItemPosition
    """Position of the step on the canvas."""
    config: Dict[str, Any]
    """Configuration of the step, which depends on its type. It may be incomplete until the workflow is enabled."""
    templateId: NotRequired[Optional[str]]
    """ID of the template that a `SEND_EMAIL` step sends; it can also be given in `config`."""
    note: NotRequired[Optional[str]]
    """Note for the people who edit the workflow, up to 2,000 characters; null or empty removes it."""


class ReplaceWorkflowGraphRequestStepsItemPosition(TypedDict):
    """Position of the step on the canvas."""
    x: float
    """Pixels from the left."""
    y: float
    """Pixels from the top."""


class WorkflowExit(TypedDict):
    id: str
    """ID of the exit within the workflow, 1 to 40 characters."""
    on: WorkflowExitOn
    """What ends the execution: exactly one of `event`, `condition` and `leavesSegment`."""
    reason: str
    """Reason that the execution ends with, 1 to 200 characters."""


class WorkflowExitOn(TypedDict):
    """What ends the execution: exactly one of `event`, `condition` and `leavesSegment`."""
    event: NotRequired[Optional[str]]
    """Name of an event of the contact, which ends the execution at once."""
    where: NotRequired[Optional[EventTests]]
    """Tests of the data of the event, 1 to 5, which all have to pass."""
    condition: NotRequired[Optional[Condition]]
    """Condition tree, which is evaluated before each `SEND_EMAIL`, `WEBHOOK` and `UPDATE_CONTACT`."""
    leavesSegment: NotRequired[Optional[str]]
    """ID of a segment that tracks its membership; leaving it ends the execution at once."""


class WorkflowGoal(TypedDict):
    on: WorkflowGoalOn
    """What reaches the goal: exactly one of `event`, `condition` and `leavesSegment`."""
    withinDays: int
    """Days after entering within which the goal counts, 1 to 365, also when the execution has ended."""
    then: Literal["count", "exit"]
    """`count` only counts; `exit` also ends the execution, with the reason `reached the goal`, as exits do."""


class WorkflowGoalOn(TypedDict):
    """What reaches the goal: exactly one of `event`, `condition` and `leavesSegment`."""
    event: NotRequired[Optional[str]]
    """Name of an event of the contact. Only events after the contact has entered count."""
    where: NotRequired[Optional[EventTests]]
    """Tests of the data of the event, 1 to 5, which all have to pass."""
    condition: NotRequired[Optional[Condition]]
    """Condition tree without `trigger.<key>`. It is evaluated when the contact enters, who is not counted if it matches, before each `SEND_EMAIL`, `WEBHOOK` and `UPDATE_CONTACT`, and when `withinDays` have passed."""
    leavesSegment: NotRequired[Optional[str]]
    """ID of a segment that tracks its membership; leaving it reaches the goal."""


class ReplaceWorkflowGraphRequestMigrate(TypedDict):
    plan: NotRequired[List[ReplaceWorkflowGraphRequestMigratePlanItem]]
    """Rules by the step that contacts are at, up to 1,000. Default: `[]`."""
    otherwise: NotRequired[ReplaceWorkflowGraphRequestMigrateOtherwise]
    """Rule for contacts at any other step. Default: `{"action":"finish"}`."""


class ReplaceWorkflowGraphRequestMigratePlanItem(TypedDict):
    stepId: str
    """ID of the step in an older version that the rule is for."""
    action: Literal["finish", "moveAtNextStep", "moveNow", "exit"]
    """`finish`: stay with the version to the end. `moveAtNextStep`: continue in the new graph after the current step. `moveNow`: move to `toStepId` at once. `exit`: leave the workflow."""
    toStepId: NotRequired[Optional[str]]
    """Step of the new graph to move to. Required for `moveNow`."""
    reason: NotRequired[Optional[str]]
    """Reason that executions end with, for `exit`; up to 200 characters."""


class ReplaceWorkflowGraphRequestMigrateOtherwise(TypedDict):
    """Rule for contacts at any other step. Default: `{"action":"finish"}`."""
    action: Literal["finish", "moveAtNextStep", "moveNow", "exit"]
    """`finish`: stay with the version to the end. `moveAtNextStep`: continue in the new graph after the current step. `moveNow`: move to `toStepId` at once. `exit`: leave the workflow."""
    toStepId: NotRequired[Optional[str]]
    """Step of the new graph to move to. Required for `moveNow`."""
    reason: NotRequired[Optional[str]]
    """Reason that executions end with, for `exit`; up to 200 characters."""


class RolloutOptions(TypedDict):
    percent: float
    """Share of new contacts who get the new version, above 0 and below 100 percent, with at most two decimals."""
    stopIf: NotRequired[RolloutOptionsStopIf]
    """Limits for the new version. The first that is broken takes it back. 5% failures and 2% unsubscribes when absent. Default: `{"failureRate":5,"unsubscribeRate":2}`."""
    days: NotRequired[int]
    """Days until all new contacts get the new version, 1 to 90. Default: `7`."""


class RolloutOptionsStopIf(TypedDict):
    """Limits for the new version. The first that is broken takes it back. 5% failures and 2% unsubscribes when absent. Default: `{"failureRate":5,"unsubscribeRate":2}`."""
    failureRate: NotRequired[Optional[float]]
    """Highest share of the new version’s executions that may fail, in percent with at most two decimals; null or absent for no limit."""
    unsubscribeRate: NotRequired[Optional[float]]
    """Highest share of its contacts who may unsubscribe by one of its emails, in percent with at most two decimals; null or absent for no limit."""


ReplaceWorkflowGraphResult: TypeAlias = "Union[WorkflowGraphPreview, ReplacedWorkflowGraph]"


class WorkflowGraphPreview(TypedDict):
    dryRun: Literal[True]
    """`true`: nothing was changed."""
    revision: int
    """Current revision of the workflow, for `If-Match`."""
    ids: Dict[str, str]
    """IDs of new steps, by the names that the request gave them."""
    changes: WorkflowGraphChanges
    """What the new graph changes."""
    issues: List[WorkflowIssue]
    """What has to be fixed before the workflow can be enabled with this graph; empty if nothing."""
    people: WorkflowMigrationPreview
    """How the plan applies to the contacts in the workflow."""


class WorkflowGraphChanges(TypedDict):
    steps: List[WorkflowGraphChangesStepsItem]
    """Steps that differ."""
    transitions: List[WorkflowGraphChangesTransitionsItem]
    """Transitions that differ."""


class WorkflowGraphChangesStepsItem(TypedDict):
    id: str
    """ID of the step."""
    name: str
    """Name of the step."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "WAIT_UNTIL", "CONDITION", "SPLIT", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """Type of the step. `config` depends on it."""
    change: Literal["added", "removed", "changed", "moved"]
    """`added`, `removed`, `changed`, or `moved` if only the position differs."""
    fields: List[str]
    """Fields that changed: `name`, `config`, `templateId` or `note`."""


class WorkflowGraphChangesTransitionsItem(TypedDict):
    fromStepId: str
    """ID of the step that the transition leaves."""
    toStepId: str
    """ID of the step that the transition leads to."""
    branch: Optional[str]
    """Branch of a condition that takes this transition, such as `yes`; null for other steps."""
    waitOutcome: Optional[Literal["EVENT", "TIMEOUT"]]
    """Outcome of a wait that takes this transition: `EVENT` or `TIMEOUT`; null for both, and for other steps."""
    change: Literal["added", "removed"]
    """`added` or `removed`."""


class WorkflowIssue(TypedDict):
    stepId: Optional[str]
    """ID of the step that the issue is about; null if it is about the workflow as a whole."""
    field: str
    """Path of the field that the issue is about, such as `steps.<id>.config.amount`."""
    message: str
    """What has to be fixed, as a sentence."""


class ReplacedWorkflowGraph(TypedDict):
    dryRun: Literal[False]
    """`false`: the graph was replaced."""
    ids: Dict[str, str]
    """IDs of new steps, by the names that the request gave them."""
    changes: WorkflowGraphChanges
    """What the new graph changes."""
    workflow: WorkflowWithGraph
    """The workflow with its new graph."""
    migration: Optional[WorkflowMigration]
    """The job that migrates the contacts in the workflow; null without `migrate`."""


class WorkflowWithGraph(TypedDict):
    id: str
    """ID of the workflow."""
    projectId: str
    """ID of the project that the workflow belongs to."""
    name: str
    """Name of the workflow."""
    description: Optional[str]
    """Description of the workflow; null if there is none."""
    enabled: bool
    """Whether the workflow is enabled, so that contacts can enter it."""
    triggerType: Literal["EVENT", "MANUAL", "SCHEDULE", "CONTACT_CREATED", "DATE"]
    """How contacts enter: `EVENT` at an event, `MANUAL` by a request, `SCHEDULE` at the times of a cron expression, `CONTACT_CREATED` when they are created, `DATE` at a date of theirs."""
    triggerConfig: Optional[Dict[str, Any]]
    """Configuration of the trigger. `EVENT`: `eventName`, and `where` to test the data of the event. `SCHEDULE`: `schedule`, `timezone`, and `segmentId` or `audienceCondition`. `CONTACT_CREATED`: `audienceCondition` and `imports`. `DATE`: `field`, `offset`, `at`, `every`, `zone` and `fallback`. Null if there is none."""
    allowReentry: bool
    """Whether a contact can enter again after leaving."""
    pausedAt: Optional[str]
    """Since when the workflow is paused; null if it is not."""
    createdAt: str
    """When the workflow was created."""
    updatedAt: str
    """When the workflow last changed."""
    revision: int
    """Increases with every edit of the workflow, its steps and transitions. The `ETag` header carries the same value; send it as `If-Match` to avoid overwriting somebody else’s edit."""
    editedAt: Optional[str]
    """When the workflow was last edited; null if it has not been edited since it was created."""
    editedBy: Optional[Union[EditedByUser, EditedByKey]]
    """User or key that last edited the workflow; null if it has not been edited since it was created."""
    steps: List[WorkflowWithGraphStepsItem]
    """Steps of the graph with their transitions."""
    transitions: List[WorkflowTransition]
    """All transitions of the graph."""
    exits: List[WorkflowExit]
    """What ends executions early, whatever step they are at."""
    goal: Optional[WorkflowGoal]
    """What the workflow is for; null if it has no goal."""
    rollout: Optional[WorkflowRollout]
    """The latest rollout of a new version, which may be over; null if there was none."""
    issues: List[WorkflowIssue]
    """What has to be fixed before the workflow can be enabled; empty if nothing."""


class WorkflowWithGraphStepsItem(TypedDict):
    id: str
    """ID of the step."""
    workflowId: str
    """ID of the workflow that the step belongs to."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "WAIT_UNTIL", "CONDITION", "SPLIT", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """Type of the step. `config` depends on it."""
    name: str
    """Name of the step."""
    position: WorkflowWithGraphStepsItemPosition
    """Position of the step on the canvas."""
    config: Dict[str, Any]
    """Configuration of the step: a `WorkflowStepConfig`, or what was stored of one that is not finished yet."""
    templateId: Optional[str]
    """ID of the template that a `SEND_EMAIL` step sends; null for other steps, and until one is chosen."""
    note: Optional[str]
    """Note for the people who edit the workflow; null if there is none."""
    createdAt: str
    """When the step was created."""
    updatedAt: str
    """When the step last changed."""
    template: Optional[WorkflowWithGraphStepsItemTemplate]
    """Template that the step sends; null for other steps."""
    outgoingTransitions: List[WorkflowTransition]
    """Transitions that leave the step, in the order in which they are tried."""
    incomingTransitions: List[WorkflowTransition]
    """Transitions that lead to the step."""


class WorkflowWithGraphStepsItemPosition(TypedDict):
    """Position of the step on the canvas."""
    x: float
    """Pixels from the left."""
    y: float
    """Pixels from the top."""


class WorkflowWithGraphStepsItemTemplate(TypedDict):
    id: str
    """ID of the template."""
    name: str
    """Name of the template."""


class WorkflowTransition(TypedDict):
    id: str
    """ID of the transition."""
    fromStepId: str
    """ID of the step that the transition leaves."""
    toStepId: str
    """ID of the step that the transition leads to."""
    condition: Optional[WorkflowTransitionCondition]
    """`branch` in the form of earlier clients; null if there is none."""
    branch: Optional[str]
    """Branch of a condition that takes this transition, such as `yes`; null for other steps."""
    waitOutcome: Optional[Literal["EVENT", "TIMEOUT"]]
    """Outcome of a wait that takes this transition: `EVENT` or `TIMEOUT`; null for both, and for other steps."""
    priority: int
    """Position among the transitions of the step: lower numbers are tried first."""
    createdAt: str
    """When the transition was created."""
    updatedAt: str
    """When the transition last changed."""


class WorkflowTransitionCondition(TypedDict):
    branch: str
    """Branch of the condition that takes this transition."""


class WorkflowRollout(TypedDict):
    id: str
    """ID of the rollout."""
    state: Literal["RUNNING", "FINISHED", "BACK", "STOPPED", "REPLACED"]
    """`RUNNING`: new contacts are shared out. `FINISHED`: all new contacts get the new version. `BACK`: all get the previous one again. `STOPPED`: the same, by a limit that was broken. `REPLACED`: another graph was published meanwhile."""
    percent: float
    """Share of new contacts who get the new version, in percent."""
    version: int
    """Number of the new version."""
    previousVersion: int
    """Number of the version that the other new contacts get."""
    stopIf: WorkflowRolloutStopIf
    """Limits that stop the rollout."""
    leastEntered: int
    """Limits count once this many contacts have entered the new version."""
    days: int
    """Length of the rollout in days."""
    startedAt: str
    """When the rollout started."""
    endsAt: str
    """When all new contacts get the new version, unless a limit is broken before."""
    endedAt: Optional[str]
    """When the rollout ended; null while it is under way."""
    stopped: Optional[WorkflowRolloutStopped]
    """The limit that was broken; null if none."""


class WorkflowRolloutStopIf(TypedDict):
    """Limits that stop the rollout."""
    failureRate: Optional[float]
    """Highest share of executions that fail, in percent; null for no limit."""
    unsubscribeRate: Optional[float]
    """Highest share of contacts who unsubscribe, in percent; null for no limit."""


class WorkflowRolloutStopped(TypedDict):
    limit: Literal["failureRate", "unsubscribeRate"]
    """`failureRate` or `unsubscribeRate`."""
    count: int
    """Number of executions that failed, or of contacts who unsubscribed."""
    of: int
    """Number of contacts who had entered the new version."""
    percent: float
    """Highest percentage that was allowed."""


class ReplayWebhookEndpointRequest(TypedDict):
    since: str
    """Start of the period to deliver again, as an ISO 8601 instant."""
    until: NotRequired[str]
    """End of the period, as an ISO 8601 instant; now when absent."""
    events: NotRequired[List[str]]
    """Events to deliver again: names, prefixes or `*`; those of the endpoint when absent."""
    only: NotRequired[Literal["failed", "all"]]
    """`failed` delivers only events that used up their attempts, `all` every event of the period. Default: `"all"`."""


class ResendCampaignResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: CampaignWithSegment
    """The campaign that was created for the resend."""
    message: str
    """What was done, as a sentence for people."""


class ResendEmailRequest(TypedDict):
    evenIfItArrived: NotRequired[bool]
    """Whether to also resend an email that may have arrived. The recipient may receive it twice. Default: `false`."""


class RestoreCampaignVersionResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: Campaign
    """The campaign with the restored content."""


class ResumeCampaignResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: CampaignWithSegment
    """The resumed campaign."""
    message: str
    """What was done, as a sentence for people."""


class ResumeWorkflowRequest(TypedDict):
    spreadMinutes: NotRequired[int]
    """Contacts whom the pause held continue evenly over this many minutes, 0 to 10,080; 0 continues all at once. Default: `0`."""


RetryWorkflowExecutionsRequest = TypedDict(
    "RetryWorkflowExecutionsRequest",
    {
        "executionIds": "NotRequired[List[str]]",
        "where": "NotRequired[RetryWorkflowExecutionsRequestWhere]",
        "from": "NotRequired[str]",
        "version": "NotRequired[Literal['own', 'newest']]",
        "sendAgain": "NotRequired[bool]",
        "dryRun": "NotRequired[bool]",
    },
)


class RetryWorkflowExecutionsRequestWhere(TypedDict):
    """Only failed executions that all of these match."""
    stepId: NotRequired[str]
    """ID of the step that failed."""
    since: NotRequired[str]
    """Executions that failed at this instant or later."""
    before: NotRequired[str]
    """Executions that failed before this instant. Repeat a request with it until `more` is false, and no execution is retried twice."""
    errorContains: NotRequired[str]
    """Text in the reason, up to 200 characters, in any letter case."""


RetryWorkflowExecutionsResult: TypeAlias = "Union[WorkflowRetryPreview, RetryWorkflowExecutionsResultValue2]"


class WorkflowRetryPreview(TypedDict):
    dryRun: Literal[True]
    """Always `true`: nothing was changed."""
    retried: int
    """Number of executions that would resume, however many requests that takes."""
    skipped: int
    """Number of failed executions that would not: their contact is in the workflow again or has a later one that resumes, or their version lacks the step."""
    more: Literal[False]
    """Always `false`: all are counted."""
    readAt: str
    """When they were counted. As `where.before` it retries these and no others."""
    steps: List[WorkflowRetryPreviewStepsItem]
    """Executions that would resume, by the step that failed; most first."""


class WorkflowRetryPreviewStepsItem(TypedDict):
    stepId: Optional[str]
    """ID of the step that failed; null if none was reached."""
    stepName: Optional[str]
    """Name of that step; null if it is unknown."""
    executions: int
    """Number of executions."""
    failedSince: str
    """When the first of them failed."""
    lastError: Optional[str]
    """Why the latest of them failed; null if that is unknown."""


class RetryWorkflowExecutionsResultValue2(TypedDict):
    retried: int
    """Number of executions that resume at the step that failed."""
    skipped: int
    """Number of executions that do not: they did not fail, or their contact is in the workflow again."""
    more: bool
    """Whether there are more failed executions that can be retried."""


class ReviseCampaignRequest(TypedDict):
    subject: NotRequired[str]
    """New subject line, with Liquid variables; absent keeps the current one."""
    body: NotRequired[str]
    """New HTML body, with Liquid variables; absent keeps the current one. Give either `body` or `document`."""
    document: NotRequired[Optional[Dict[str, Any]]]
    """Blocks that the new HTML body is compiled from, in place of `body`; absent keeps the current content."""


class ReviseCampaignResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: CampaignWithSegment
    """The campaign with its new content."""
    message: str
    """What was done, as a sentence for people."""


class RotateWebhookEndpointSecretRequest(TypedDict):
    overlapHours: NotRequired[int]
    """Hours for which calls carry a signature of the previous secret too, 0 to 72. Default: `24`."""


class SavedBlock(TypedDict):
    id: str
    """ID of the saved block."""
    name: str
    """Name of the saved block, unique within the project."""
    content: List[Dict[str, Any]]
    """The blocks, in the format of `content` in a `document`."""
    createdAt: str
    """When the block was saved."""
    updatedAt: str
    """When its name or content last changed."""


class SavedBlockList(TypedDict):
    data: List[SavedBlock]
    """All saved blocks of the project, sorted by name."""


class SearchContactsRequest(TypedDict):
    filter: NotRequired[ContactFilter]
    """The contacts to list; all when absent."""
    sort: NotRequired[Literal["email", "createdAt", "updatedAt"]]
    """What to sort by. Default: `"createdAt"`."""
    dir: NotRequired[Literal["asc", "desc"]]
    """Direction of the sort. Default: `"desc"`."""
    limit: NotRequired[int]
    """Items of a page; 20 when absent. Default: `20`."""
    cursor: NotRequired[str]
    """`cursor` of the page before, unchanged; the first page when absent or empty."""


class SendCampaignRequest(TypedDict):
    canary: NotRequired[Optional[CanaryOptions]]
    """Sends to a first slice of the audience and holds everyone else back. Absent keeps the canary of a scheduled campaign; null removes it."""
    fingerprint: NotRequired[Optional[str]]
    """Fingerprint of a dry run. The send is refused if the campaign has changed since that review. Absent keeps the review of a scheduled campaign; null removes it."""
    drift: NotRequired[Union[Literal["none", "fewer"], float]]
    """How far the audience may have changed since the dry run. `none`: exactly the reviewed contacts. `fewer`: nobody may have joined. A number from 0 to 1: the share of the audience that may have joined or left. Needs a `fingerprint`; `none` when absent."""
    scheduledFor: NotRequired[Any]
    """When to send: a date such as `2026-03-01T09:00:00Z`, or epoch milliseconds. Absent or null sends immediately."""


class SendCampaignResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: CampaignWithSegment
    """The campaign. With the status 202 it is still a draft, and `approval` is set."""
    message: str
    """What was done, as a sentence for people."""


class SendEmailBatchRequest(TypedDict):
    emails: List[SendEmailRequest]
    """Emails to send, 1 to 100, each as in `POST /v1/send`; up to 1,000 recipients in total."""
    mode: NotRequired[Literal["all", "each"]]
    """`all`: nothing is sent unless every item can be. `each`: every item is accepted or refused by itself. Default: `"all"`."""


SendEmailRequest = TypedDict(
    "SendEmailRequest",
    {
        "to": "Union[str, SendEmailRequestTo2, List[Union[str, SendEmailRequestTo3Item2]]]",
        "subject": "NotRequired[str]",
        "body": "NotRequired[str]",
        "text": "NotRequired[Optional[str]]",
        "template": "NotRequired[str]",
        "from": "NotRequired[Union[str, SendEmailRequestFrom2]]",
        "fromName": "NotRequired[str]",
        "name": "NotRequired[str]",
        "reply": "NotRequired[str]",
        "replyTo": "NotRequired[str]",
        "subscribed": "NotRequired[bool]",
        "data": "NotRequired[Optional[Dict[str, Any]]]",
        "headers": "NotRequired[Dict[str, str]]",
        "attachments": "NotRequired[List[SendEmailRequestAttachmentsItem]]",
        "tracking": "NotRequired[bool]",
        "tags": "NotRequired[Optional[Dict[str, Any]]]",
        "scheduledFor": "NotRequired[Optional[str]]",
        "hold": "NotRequired[Optional[str]]",
    },
)


class SendEmailRequestTo2(TypedDict):
    name: NotRequired[Optional[str]]
    """Display name, without line breaks. For a recipient it is also stored as `data.name` of the contact."""
    email: str
    """Email address."""


class SendEmailRequestTo3Item2(TypedDict):
    name: NotRequired[Optional[str]]
    """Display name, without line breaks. For a recipient it is also stored as `data.name` of the contact."""
    email: str
    """Email address."""


class SendEmailRequestFrom2(TypedDict):
    name: NotRequired[Optional[str]]
    """Display name, without line breaks. For a recipient it is also stored as `data.name` of the contact."""
    email: str
    """Email address."""


class SendEmailRequestAttachmentsItem(TypedDict):
    filename: str
    """File name, 1 to 255 characters, without line breaks and quotes."""
    content: str
    """Content of the file in base64."""
    contentType: str
    """Media type, such as `application/pdf`."""
    disposition: NotRequired[Literal["attachment", "inline"]]
    """`attachment`, or `inline` for an image that the HTML shows by its `contentId`. Default: `"attachment"`."""
    contentId: NotRequired[str]
    """ID by which the HTML refers to an inline file, as `cid:<contentId>`. Required for `inline`."""


class SendEmailBatchResult(TypedDict):
    success: Literal[True]
    """Always `true`, also when items were refused in the mode `each`. A failed request returns an `Error` instead."""
    data: SendEmailBatchResultData
    """Results of the batch."""


class SendEmailBatchResultData(TypedDict):
    """Results of the batch."""
    results: List[Union[SendEmailBatchResultDataResultsItem, SendEmailBatchResultDataResultsItem2]]
    """One result for each item, in the order of the request."""
    timestamp: str
    """When the batch was processed."""


class SendEmailBatchResultDataResultsItem(TypedDict):
    ok: Literal[True]
    """`true`: the item was accepted."""
    emails: List[SendEmailBatchResultDataResultsItemEmailsItem]
    """One item for each recipient, in the order of `to`."""


class SendEmailBatchResultDataResultsItemEmailsItem(TypedDict):
    contact: SendEmailBatchResultDataResultsItemEmailsItemContact
    """The recipient, as a contact of the project."""
    email: str
    """ID of the email, for `GET /v1/emails/{id}`."""
    scheduledFor: NotRequired[Optional[str]]
    """When the email is sent; null for immediately. Only with `scheduledFor` or `hold` in the request."""
    heldUntil: NotRequired[Optional[str]]
    """When the held email is sent unless it is canceled before; null if it is not held. Only with `scheduledFor` or `hold` in the request."""


class SendEmailBatchResultDataResultsItemEmailsItemContact(TypedDict):
    """The recipient, as a contact of the project."""
    id: str
    """ID of the contact."""
    email: str
    """Address of the contact."""


class SendEmailBatchResultDataResultsItem2(TypedDict):
    ok: Literal[False]
    """`false`: the item was refused."""
    error: SendEmailBatchResultDataResultsItem2Error
    """Why the item was refused, as `POST /v1/send` would return it."""


class SendEmailBatchResultDataResultsItem2Error(TypedDict):
    """Why the item was refused, as `POST /v1/send` would return it."""
    code: str
    """Error code, such as `VALIDATION_ERROR`."""
    message: str
    """What is wrong, as a sentence."""
    statusCode: int
    """HTTP status that `POST /v1/send` would have returned."""
    details: NotRequired[Dict[str, Any]]
    """Further facts about the error; absent if there are none."""
    errors: NotRequired[List[SendEmailBatchResultDataResultsItem2ErrorErrorsItem]]
    """Problems by field; absent if the error is about no field."""
    suggestion: NotRequired[str]
    """How to fix the request; absent if there is nothing to suggest."""


class SendEmailBatchResultDataResultsItem2ErrorErrorsItem(TypedDict):
    field: str
    """Path of the field, such as `attachments.0.content`."""
    message: str
    """What is wrong with the field."""
    code: str
    """Code of the problem, such as `invalid_string`."""
    received: NotRequired[str]
    """Type of the value that was received; absent if it does not matter."""


class SendEmailResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: SendEmailResultData
    """Emails that were accepted."""


class SendEmailResultData(TypedDict):
    """Emails that were accepted."""
    emails: List[SendEmailResultDataEmailsItem]
    """One item for each recipient, in the order of `to`."""
    timestamp: str
    """When the request was accepted."""


class SendEmailResultDataEmailsItem(TypedDict):
    contact: SendEmailResultDataEmailsItemContact
    """The recipient, as a contact of the project."""
    email: str
    """ID of the email, for `GET /v1/emails/{id}`."""
    scheduledFor: NotRequired[Optional[str]]
    """When the email is sent; null for immediately. Only with `scheduledFor` or `hold` in the request."""
    heldUntil: NotRequired[Optional[str]]
    """When the held email is sent unless it is canceled before; null if it is not held. Only with `scheduledFor` or `hold` in the request."""


class SendEmailResultDataEmailsItemContact(TypedDict):
    """The recipient, as a contact of the project."""
    id: str
    """ID of the contact."""
    email: str
    """Address of the contact."""


class SetHoldoutRequest(TypedDict):
    percent: float
    """Share of contacts that get no marketing email, in percent with up to 2 decimals. A larger share keeps the contacts of a smaller one."""
    until: NotRequired[Optional[str]]
    """When the control group ends by itself, as an ISO 8601 instant in the future; null or absent for never."""


class SimulateWorkflowRequest(TypedDict):
    graph: NotRequired[SimulateWorkflowRequestGraph]
    """Graph to simulate, as in `PUT /workflows/{id}/graph`, which need not be saved."""
    version: NotRequired[int]
    """Version to simulate. Without `graph` and `version` it is the saved graph; with `compareWith: "actual"` the version that each execution had."""
    over: SimulateWorkflowRequestOver
    """The contacts that go through the workflow."""
    most: NotRequired[int]
    """Most contacts, or executions, to simulate, up to 10,000. Default: `10000`."""
    horizon: NotRequired[str]
    """How long each contact is followed, in `h` or `d`, up to 365 days. Default: `"90d"`."""
    futures: NotRequired[Literal["recorded", "none"]]
    """`recorded`: events that were recorded after a contact entered answer waits and end executions. `none`: no event comes, and waits time out. Default: `"recorded"`."""
    compareWith: NotRequired[Union[Literal["actual"], int]]
    """Number of a version that the same contacts go through as well, or `actual` for their executions that have ended; nothing when absent."""


class SimulateWorkflowRequestGraph(TypedDict):
    """Graph to simulate, as in `PUT /workflows/{id}/graph`, which need not be saved."""
    steps: List[SimulateWorkflowRequestGraphStepsItem]
    """All steps of the new graph. Steps that are left out are deleted."""
    transitions: List[CreateWorkflowTransitionRequest]
    """All transitions of the new graph."""
    exits: NotRequired[Optional[List[WorkflowExit]]]
    """What ends executions early, up to 20; absent leaves it, null removes all."""
    goal: NotRequired[Optional[WorkflowGoal]]
    """What the workflow is for; absent leaves it, null removes it."""


class SimulateWorkflowRequestGraphStepsItem(TypedDict):
    id: str
    """ID of an existing step to keep it; any other text names a new step within this request. 1 to 100 characters."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "WAIT_UNTIL", "CONDITION", "SPLIT", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """Type of the step. The graph needs its `TRIGGER`."""
    name: str
    """Name of the step."""
    position: SimulateWorkflowRequestGraphStepsItemPosition
    """Position of the step on the canvas."""
    config: Dict[str, Any]
    """Configuration of the step, which depends on its type. It may be incomplete until the workflow is enabled."""
    templateId: NotRequired[Optional[str]]
    """ID of the template that a `SEND_EMAIL` step sends; it can also be given in `config`."""
    note: NotRequired[Optional[str]]
    """Note for the people who edit the workflow, up to 2,000 characters; null or empty removes it."""


class SimulateWorkflowRequestGraphStepsItemPosition(TypedDict):
    """Position of the step on the canvas."""
    x: float
    """Pixels from the left."""
    y: float
    """Pixels from the top."""


class SimulateWorkflowRequestOver(TypedDict):
    """The contacts that go through the workflow."""
    event: NotRequired[SimulateWorkflowRequestOverEvent]
    """Contacts to whom the event that starts the workflow happened within this time, at most 366 days. With `compareWith: "actual"`, those whose executions started within it."""
    segmentId: NotRequired[str]
    """Current members of this segment."""
    contactIds: NotRequired[List[str]]
    """These contacts, 1 to 10,000."""
    at: NotRequired[str]
    """When members of a segment, or contacts by ID, enter. When absent: one horizon ago if recorded events answer waits, else now."""


SimulateWorkflowRequestOverEvent = TypedDict(
    "SimulateWorkflowRequestOverEvent",
    {
        "from": "str",
        "until": "str",
    },
)


class SimulatedContacts(TypedDict):
    data: List[SimulatedContactsDataItem]
    """Contacts, in the order in which they were simulated."""
    cursor: Optional[str]
    """Cursor of the next page; null on the last page."""


class SimulatedContactsDataItem(TypedDict):
    contactId: str
    """ID of the contact."""
    email: Optional[str]
    """Email address of the contact; null when it was deleted since."""
    name: Optional[str]
    """Name of the contact, from its data; null without one."""
    executionId: Optional[str]
    """ID of the execution that it is compared with; null otherwise."""
    executions: List[SimulatedExecution]
    """Executions of the contact here, up to 10."""
    compared: Optional[List[SimulatedExecution]]
    """Executions of the contact there, up to 10; null without `compareWith`."""


class SimulatedExecution(TypedDict):
    enteredAt: str
    """When the contact enters."""
    end: Literal["COMPLETED", "EXITED", "FAILED", "INSIDE"]
    """How the execution ends; `INSIDE` when its time is over before."""
    reason: Optional[str]
    """Why it exits or fails; null otherwise."""
    endsAt: str
    """When it ends, or its time is over."""
    stepId: Optional[str]
    """ID of the last step."""
    mails: List[SimulatedExecutionMailsItem]
    """Emails that are sent, up to 50."""


class SimulatedExecutionMailsItem(TypedDict):
    stepId: str
    """ID of the step."""
    templateId: Optional[str]
    """ID of the template; null without one."""
    at: str
    """When the email leaves."""


class SmtpClient(TypedDict):
    ip: str
    """IP address it connects from."""
    credential: Literal["secret", "key", "unknown"]
    """What it signs in with. `secret`: the secret key. `key`: a key with scopes. `unknown`: something that is not a key of the project."""
    key: Optional[str]
    """Name of the key with scopes; null for other credentials, and when the key was deleted."""
    lastAt: str
    """When it last connected, accurate to half a minute."""
    acceptedAt: Optional[str]
    """When its last message was accepted, accurate to half a minute; null if none was."""
    refusedAt: Optional[str]
    """When it was last refused; null if it was not."""
    refusal: Optional[str]
    """The last refusal, code first, without email addresses; null if there was none."""


class StartCampaignDryRunRequest(TypedDict):
    sample: NotRequired[Union[Literal["all"], int]]
    """Messages to render: `all`, or a number from 1 to 1,000,000 spread over the audience. Every contact is checked either way. Default: `"all"`."""


class StartCampaignDryRunResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: CampaignDryRun
    """The dry run, which has just started."""


class StartWorkflowExecutionRequest(TypedDict):
    contactId: str
    """ID of the contact to enroll."""
    context: NotRequired[Any]
    """Data that the steps can use as `event`, as a JSON object; absent for none."""


SuppressedEmail = TypedDict(
    "SuppressedEmail",
    {
        "id": "str",
        "projectId": "str",
        "contactId": "str",
        "toName": "Optional[str]",
        "fromName": "Optional[str]",
        "replyTo": "Optional[str]",
        "subject": "str",
        "body": "str",
        "from": "str",
        "headers": "Optional[Dict[str, Any]]",
        "attachments": "Optional[List[Dict[str, Any]]]",
        "sourceType": "str",
        "templateId": "Optional[str]",
        "campaignId": "Optional[str]",
        "workflowExecutionId": "Optional[str]",
        "workflowStepExecutionId": "Optional[str]",
        "messageId": "Optional[str]",
        "status": "str",
        "sentAt": "Optional[str]",
        "deliveredAt": "Optional[str]",
        "openedAt": "Optional[str]",
        "clickedAt": "Optional[str]",
        "bouncedAt": "Optional[str]",
        "complainedAt": "Optional[str]",
        "opens": "int",
        "clicks": "int",
        "error": "Optional[str]",
        "recipientAddress": "str",
        "suppression": "SuppressionMatch",
        "createdAt": "str",
        "updatedAt": "str",
    },
)


class SuppressionRule(TypedDict):
    id: str
    """ID of the rule."""
    name: str
    """Name of the rule."""
    kind: Literal["ADDRESS", "DOMAIN", "PREFIX", "SUFFIX", "WILDCARD"]
    """What `pattern` is compared with: the address, its domain, its beginning or end before the `@`, or the address with `*` as a wildcard."""
    pattern: str
    """Pattern of the rule, in lower case."""
    enabled: bool
    """Whether the rule applies."""
    projectId: str
    """ID of the project."""
    createdAt: str
    """Time at which the rule was created."""
    updatedAt: str
    """Time of the last change of the rule."""


class SuppressionRuleRequest(TypedDict):
    name: str
    """Name of the rule, 1 to 100 characters."""
    kind: Literal["ADDRESS", "DOMAIN", "PREFIX", "SUFFIX", "WILDCARD"]
    """What `pattern` is compared with: the address, its domain, its beginning or end before the `@`, or the address with `*` as a wildcard."""
    pattern: str
    """Pattern of the rule, stored in lower case; it must fit `kind`."""
    enabled: NotRequired[bool]
    """Whether the rule applies. Default: `true`."""
    id: NotRequired[Any]
    """Ignored; accepted so that a rule can be sent back as it was read."""
    projectId: NotRequired[Any]
    """Ignored; accepted so that a rule can be sent back as it was read."""
    createdAt: NotRequired[Any]
    """Ignored; accepted so that a rule can be sent back as it was read."""
    updatedAt: NotRequired[Any]
    """Ignored; accepted so that a rule can be sent back as it was read."""


Template = TypedDict(
    "Template",
    {
        "id": "str",
        "name": "str",
        "description": "Optional[str]",
        "subject": "str",
        "body": "str",
        "document": "Optional[Dict[str, Any]]",
        "from": "str",
        "fromName": "Optional[str]",
        "replyTo": "Optional[str]",
        "type": "Literal['TRANSACTIONAL', 'MARKETING', 'HEADLESS']",
        "revision": "int",
        "projectId": "str",
        "createdAt": "str",
        "updatedAt": "str",
    },
)


class TemplatePage(TypedDict):
    data: List[Template]
    """Templates on this page."""
    page: int
    """Number of this page, from 1."""
    pageSize: int
    """Maximum number of items on a page."""
    total: int
    """Number of items on all pages."""
    totalPages: int
    """Number of pages."""


class TestCampaignRequest(TypedDict):
    email: str
    """Address that receives the test: a member of the project, or one of its test addresses."""
    previewContactId: NotRequired[Optional[str]]
    """ID of the contact whose data fills in the variables. When absent, the contact with the address in `email`, if there is one."""
    asSent: NotRequired[bool]
    """Whether to send exactly what recipients get, with footer, headers and links. Its unsubscribe links don’t change any contact. Default: `false`."""


class TestWebhookEndpointRequest(TypedDict):
    type: NotRequired[str]
    """Name of the event to call the endpoint with, 1 to 255 characters. Default: `"test.event"`."""


class TestWebhookEndpointResult(TypedDict):
    at: str
    """When the endpoint was called."""
    statusCode: Optional[int]
    """HTTP status of the response; null if there was none."""
    ms: int
    """Duration of the call, in milliseconds."""
    answer: Optional[str]
    """First 4 KB of the response body; null if there was no response."""
    error: Optional[str]
    """Why there was no response; null if there was one."""
    delivered: bool
    """Whether the endpoint accepted the call with a 2xx status."""
    webhookId: str
    """`webhook-id` of the call."""


class TestWorkflowRequest(TypedDict):
    contactId: str
    """ID of the contact to test the workflow with."""
    data: NotRequired[Optional[Dict[str, Any]]]
    """Data of the event that starts the workflow; null or absent for none."""
    waits: NotRequired[Literal["EVENT", "TIMEOUT"]]
    """Outcome of every wait for an event: `EVENT` if the event arrives at once and its data passes `where`, `TIMEOUT` if it never does. An event that an exit or the goal is for ends the test. Default: `"EVENT"`."""
    waitData: NotRequired[Optional[Dict[str, Any]]]
    """Data of the awaited events, for `EVENT`; null or absent for none."""
    graph: NotRequired[TestWorkflowRequestGraph]
    """Graph to test, as in `PUT /workflows/{id}/graph`; the saved one when absent."""


class TestWorkflowRequestGraph(TypedDict):
    """Graph to test, as in `PUT /workflows/{id}/graph`; the saved one when absent."""
    steps: List[TestWorkflowRequestGraphStepsItem]
    """All steps of the new graph. Steps that are left out are deleted."""
    transitions: List[CreateWorkflowTransitionRequest]
    """All transitions of the new graph."""


class TestWorkflowRequestGraphStepsItem(TypedDict):
    id: str
    """ID of an existing step to keep it; any other text names a new step within this request. 1 to 100 characters."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "WAIT_UNTIL", "CONDITION", "SPLIT", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """Type of the step. The graph needs its `TRIGGER`."""
    name: str
    """Name of the step."""
    position: TestWorkflowRequestGraphStepsItemPosition
    """Position of the step on the canvas."""
    config: Dict[str, Any]
    """Configuration of the step, which depends on its type. It may be incomplete until the workflow is enabled."""
    templateId: NotRequired[Optional[str]]
    """ID of the template that a `SEND_EMAIL` step sends; it can also be given in `config`."""
    note: NotRequired[Optional[str]]
    """Note for the people who edit the workflow, up to 2,000 characters; null or empty removes it."""


class TestWorkflowRequestGraphStepsItemPosition(TypedDict):
    """Position of the step on the canvas."""
    x: float
    """Pixels from the left."""
    y: float
    """Pixels from the top."""


class TrackEventRequest(TypedDict):
    email: str
    """Email address of the contact; a new address creates a contact."""
    event: str
    """Name of the event, up to 255 characters."""
    subscribed: NotRequired[bool]
    """Whether the contact is subscribed to marketing mail; absent leaves an existing contact unchanged."""
    data: NotRequired[Optional[Dict[str, Any]]]
    """Data of the event; its values are also stored on the contact."""


class TrackEventResult(TypedDict):
    success: Literal[True]
    """Always true."""
    data: TrackEventResultData
    """The recorded event."""


class TrackEventResultData(TypedDict):
    """The recorded event."""
    contact: str
    """ID of the contact."""
    event: str
    """ID of the event."""
    timestamp: str
    """Time at which the event was recorded."""


class UnarchiveCampaignResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: CampaignWithSegment
    """The archived or unarchived campaign."""


class UndoImportRequest(TypedDict):
    dryRun: NotRequired[bool]
    """Only reports what would be done. Default: `false`."""
    conflicts: NotRequired[Literal["keep", "restore"]]
    """What happens to fields that have changed since: kept, or restored as well. Default: `"keep"`."""


class UndoPreview(TypedDict):
    jobId: Optional[str]
    """ID of the job that performs the undo; null for a dry run."""
    deletes: int
    """Contacts that the job created and that have not changed since."""
    restores: int
    """Contacts whose fields or subscription go back, or that come back."""
    conflicts: List[UndoPreviewConflictsItem]
    """Fields that were changed since, with the number of contacts."""
    keeps: List[UndoPreviewKeepsItem]
    """Contacts or subscriptions that stay as they are, by reason."""


class UndoPreviewConflictsItem(TypedDict):
    key: str
    """Name of the field."""
    count: int
    """Number of contacts whose field changed since."""


class UndoPreviewKeepsItem(TypedDict):
    reason: str
    """Why they stay as they are."""
    count: int
    """Number of contacts or subscriptions."""


class UpdateBillingLimitsRequest(TypedDict):
    workflows: Optional[Union[float, str]]
    """New monthly limit of workflow emails; null for no limit."""
    campaigns: Optional[Union[float, str]]
    """New monthly limit of campaign emails; null for no limit."""
    transactional: Optional[Union[float, str]]
    """New monthly limit of transactional emails; null for no limit."""
    inbound: Optional[Union[float, str]]
    """New monthly limit of received emails; null for no limit."""


UpdateCampaignRequest = TypedDict(
    "UpdateCampaignRequest",
    {
        "name": "NotRequired[str]",
        "description": "NotRequired[Optional[str]]",
        "subject": "NotRequired[str]",
        "body": "NotRequired[str]",
        "document": "NotRequired[Optional[Dict[str, Any]]]",
        "from": "NotRequired[str]",
        "fromName": "NotRequired[Optional[str]]",
        "replyTo": "NotRequired[Optional[str]]",
        "audienceType": "NotRequired[Literal['ALL', 'SEGMENT', 'FILTERED']]",
        "audienceCondition": "NotRequired[Optional[Dict[str, Any]]]",
        "segmentId": "NotRequired[Optional[str]]",
        "type": "NotRequired[Literal['TRANSACTIONAL', 'MARKETING', 'HEADLESS']]",
    },
)


class UpdateCampaignResult(TypedDict):
    success: Literal[True]
    """Always `true`. A failed request returns an `Error` instead."""
    data: Campaign
    """The updated campaign."""


class UpdateCampaignsRequest(TypedDict):
    ids: List[str]
    """IDs of the campaigns to change, 1 to 1,000. All of them are changed, or none."""
    delete: NotRequired[bool]
    """`true` deletes the campaigns, which must all be drafts. It cannot be combined with `archived`."""
    archived: NotRequired[bool]
    """`true` archives the campaigns, `false` unarchives them. It cannot be combined with `delete`."""


UpdateCampaignsResult: TypeAlias = "Union[UpdateCampaignsResultValue, UpdateCampaignsResultValue2]"


class UpdateCampaignsResultValue(TypedDict):
    deleted: int
    """Number of drafts deleted, for a request with `delete`."""


class UpdateCampaignsResultValue2(TypedDict):
    updated: int
    """Number of campaigns archived or unarchived, for a request with `archived`."""


class UpdateContactRequest(TypedDict):
    email: NotRequired[str]
    """Email address of the contact, stored in lower case."""
    subscribed: NotRequired[bool]
    """Whether the contact is subscribed to marketing mail; unchanged when absent."""
    data: NotRequired[Optional[Dict[str, Any]]]
    """Custom fields, merged into those of the contact; `null` as a value deletes a key."""
    reason: NotRequired[str]
    """Why the subscription changes; `data.reason` of the event `contact.subscribed` or `contact.unsubscribed`."""


class UpdateContactViewRequest(TypedDict):
    name: NotRequired[str]
    """New name of the view."""
    filter: NotRequired[ContactFilter]
    """The contacts that the view shows."""
    sort: NotRequired[Literal["email", "createdAt", "updatedAt"]]
    """What to sort by."""
    dir: NotRequired[Literal["asc", "desc"]]
    """Direction of the sort."""
    columns: NotRequired[Optional[List[str]]]
    """Columns of the list in their order, or null."""


class UpdateEmailRequest(TypedDict):
    scheduledFor: str
    """New time to send the email, as an ISO 8601 instant with an offset; at most 30 days ahead. A time in the past sends it immediately."""


class UpdateProjectApiKeyResult(TypedDict):
    id: str
    """ID of the key."""
    name: str
    """Name of the key."""
    prefix: str
    """First characters of the key."""
    scopes: List[Literal["emails:send", "emails:read", "events:write", "contacts:read", "contacts:write", "contacts:erase", "templates", "campaigns:read", "campaigns:write", "campaigns:send", "workflows:read", "workflows:write", "webhooks", "explain", "audit"]]
    """What the key may do."""
    senderDomains: Optional[List[str]]
    """Domains that `from` may have; null for all verified domains."""
    recipients: Optional[UpdateProjectApiKeyResultRecipients]
    """Recipients that a test key may send to; null for a key that may send to anyone."""
    mcp: Optional[UpdateProjectApiKeyResultMcp]
    """What the key allows a language model at `POST /mcp`; null for reading only."""
    expiresAt: Optional[str]
    """Time at which the key expires; null for never."""
    overlapUntil: Optional[str]
    """Time until which the previous key keeps working after a rotation; null without one."""
    lastUsedAt: Optional[str]
    """Time of the last use, accurate to five minutes; null for never."""
    createdBy: Optional[UpdateProjectApiKeyResultCreatedBy]
    """The user who created the key; null when the account no longer exists."""
    createdAt: str
    """Time at which the key was created."""
    updatedAt: str
    """Time of the last change of the key."""


class UpdateProjectApiKeyResultRecipients(TypedDict):
    domains: List[str]
    """Domains that the key may send to."""
    addresses: List[str]
    """Email addresses that the key may send to."""


class UpdateProjectApiKeyResultMcp(TypedDict):
    mode: Literal["read", "plan", "act"]
    """`read`: read only. `plan`: also create plans. `act`: also carry them out."""
    mostRecipients: NotRequired[int]
    """Maximum number of contacts that one plan may reach. Default: `50`."""
    needsHuman: NotRequired[Literal["always", "above", "never"]]
    """Plans that a member has to approve: `always` all, `above` those that reach more than `mostRecipients`; with `never` such plans are refused instead. Default: `"above"`."""


class UpdateProjectApiKeyResultCreatedBy(TypedDict):
    id: str
    """ID of the user."""
    email: str
    """Email address of the user."""


class UpdateProjectRequest(TypedDict):
    name: NotRequired[str]
    """New name, 1 to 100 characters."""
    tracking: NotRequired[Literal["ENABLED", "DISABLED", "MARKETING_ONLY"]]
    """Whether opens and clicks are tracked; `MARKETING_ONLY` excludes transactional email."""
    language: NotRequired[str]
    """Language of recipient pages and footers, such as `en` or `pt-BR`."""
    timeZone: NotRequired[Optional[str]]
    """Time zone in which the team sets times, by its IANA name such as `Europe/Berlin`; null for none."""
    quietHours: NotRequired[Optional[QuietHours]]
    """Hours in which email of workflows and campaigns waits until their end in the time zone of the contact; null for none. Replaces the object as a whole."""
    emailRetentionDays: NotRequired[Optional[Literal[31, 60, 90, 180, 365, 730, 1825]]]
    """Days for which email is kept, 31, 60, 90, 180, 365, 730, 1825, not below CONTACT_HISTORY_DAYS; null for as long as the deployment keeps it. Older email is removed within hours, and cannot be brought back."""
    eventRetentionDays: NotRequired[Optional[Literal[31, 60, 90, 180, 365, 730, 1825]]]
    """Days for which events are kept, 31, 60, 90, 180, 365, 730, 1825, not below CONTACT_HISTORY_DAYS; null for as long as the deployment keeps it. Older events are removed within hours, and cannot be brought back."""
    executionRetentionDays: NotRequired[Optional[Literal[31, 60, 90, 180, 365, 730, 1825]]]
    """Days for which ended executions of workflows are kept, 31, 60, 90, 180, 365, 730, 1825, not below CONTACT_HISTORY_DAYS; null for as long as the deployment keeps it. Older ones are removed within hours, and cannot be brought back."""
    escapeContactData: NotRequired[bool]
    """Whether values of contact data are HTML-escaped in email."""
    hideSecretKey: NotRequired[bool]
    """Whether only admins and the owner see the secret key."""
    approvalAbove: NotRequired[Optional[int]]
    """Number of contacts above which a campaign of a member, or of a key with scopes, needs the approval of an admin; null for none."""
    testAddresses: NotRequired[List[str]]
    """Addresses beside those of members that may get tests; the whole list, up to 20."""
    publicKeyMode: NotRequired[Literal["contract", "hardened"]]
    """`contract`: the public key shares the rate limit and the idempotency keys of the project. `hardened`: it has its own."""
    publicKeyRequestsPerMinute: NotRequired[int]
    """Requests per minute of the public key while `publicKeyMode` is `hardened`, 1 to 1,000,000; never above the limit of the project."""


class UpdateSavedBlockRequest(TypedDict):
    name: NotRequired[str]
    """Name of the saved block, 1 to 100 characters. It must be unique within the project."""
    content: NotRequired[List[Dict[str, Any]]]
    """One or more blocks, in the format of `content` in a `document`."""


class UpdateSegmentRequest(TypedDict):
    name: NotRequired[str]
    """New name, 1 to 100 characters."""
    description: NotRequired[Optional[str]]
    """New description, up to 500 characters; null removes it."""
    condition: NotRequired[Optional[Condition]]
    """New condition of a dynamic segment."""
    trackMembership: NotRequired[bool]
    """Whether members are stored, with an event for each entry and exit."""


class UpdateSuppressionRuleResult(TypedDict):
    success: Literal[True]
    """Always true."""


UpdateTemplateRequest = TypedDict(
    "UpdateTemplateRequest",
    {
        "name": "NotRequired[str]",
        "description": "NotRequired[Optional[str]]",
        "subject": "NotRequired[str]",
        "body": "NotRequired[str]",
        "document": "NotRequired[Optional[Dict[str, Any]]]",
        "from": "NotRequired[str]",
        "fromName": "NotRequired[Optional[str]]",
        "replyTo": "NotRequired[Optional[str]]",
        "type": "NotRequired[Literal['TRANSACTIONAL', 'MARKETING', 'HEADLESS']]",
    },
)


class UpdateWebhookEndpointRequest(TypedDict):
    url: NotRequired[str]
    """New URL to call, 1 to 2,048 characters."""
    description: NotRequired[Optional[str]]
    """New description, up to 500 characters; null removes it."""
    events: NotRequired[List[str]]
    """New list of events, 1 to 50: names, prefixes such as `contact.*`, or `*` for all."""
    payload: NotRequired[Literal["full", "thin"]]
    """What calls carry from now on: `full` for the whole event, `thin` to leave its data out."""
    ordered: NotRequired[bool]
    """Whether events are delivered one at a time, each after the previous one was accepted."""
    paused: NotRequired[bool]
    """`true` pauses the endpoint. `false` resumes it, also if it was disabled; deliveries continue where they stopped."""


class UpdateWorkflowRequest(TypedDict):
    name: NotRequired[str]
    """New name, 1 to 255 characters."""
    description: NotRequired[Optional[str]]
    """New description, up to 2,000 characters; null removes it."""
    triggerType: NotRequired[Literal["EVENT", "MANUAL", "SCHEDULE", "CONTACT_CREATED", "DATE"]]
    """New trigger: `EVENT`, `MANUAL`, `SCHEDULE`, `CONTACT_CREATED` or `DATE`. It cannot change while contacts are inside."""
    triggerConfig: NotRequired[Optional[Dict[str, Any]]]
    """New configuration of the trigger, up to 256 KiB. It cannot change while contacts are inside."""
    enabled: NotRequired[bool]
    """`true` enables the workflow, which checks its whole graph; `false` disables it."""
    allowReentry: NotRequired[bool]
    """Whether a contact can enter again after leaving."""
    exits: NotRequired[Optional[List[WorkflowExit]]]
    """What ends executions early, up to 20, in place of what was there; null removes all. It holds for contacts who enter from now on."""
    goal: NotRequired[Optional[WorkflowGoal]]
    """What the workflow is for, in place of what was there; null removes it. It counts for contacts who enter from now on."""


class UpdateWorkflowRolloutRequest(TypedDict):
    percent: NotRequired[float]
    """Share of new contacts who get the new version, above 0 and below 100 percent, with at most two decimals."""
    stopIf: NotRequired[UpdateWorkflowRolloutRequestStopIf]
    """New limits, in place of all that were there."""
    days: NotRequired[int]
    """New length in days from the start of the rollout, 1 to 90."""


class UpdateWorkflowRolloutRequestStopIf(TypedDict):
    """New limits, in place of all that were there."""
    failureRate: NotRequired[Optional[float]]
    """Highest share of the new version’s executions that may fail, in percent with at most two decimals; null or absent for no limit."""
    unsubscribeRate: NotRequired[Optional[float]]
    """Highest share of its contacts who may unsubscribe by one of its emails, in percent with at most two decimals; null or absent for no limit."""


class UpdateWorkflowStepRequest(TypedDict):
    name: NotRequired[str]
    """Name of the step."""
    position: NotRequired[UpdateWorkflowStepRequestPosition]
    """Position of the step on the canvas."""
    config: NotRequired[Dict[str, Any]]
    """Configuration of the step, which depends on its type. It may be incomplete until the workflow is enabled."""
    templateId: NotRequired[Optional[str]]
    """ID of the template that a `SEND_EMAIL` step sends; it can also be given in `config`."""
    note: NotRequired[Optional[str]]
    """Note for the people who edit the workflow, up to 2,000 characters; null or empty removes it."""


class UpdateWorkflowStepRequestPosition(TypedDict):
    """Position of the step on the canvas."""
    x: float
    """Pixels from the left."""
    y: float
    """Pixels from the top."""


class UploadedImage(TypedDict):
    url: str
    """Public URL of the image, for use in emails. It never changes."""
    key: str
    """Key of the file in the image store."""
    filename: str
    """File name as the client sent it."""
    contentType: str
    """Media type, detected from the file: `image/jpeg`, `image/png`, `image/gif` or `image/webp`."""
    size: int
    """Size of the file in bytes."""


class UpsertContactRequest(TypedDict):
    email: str
    """Email address of the contact, stored in lower case."""
    subscribed: NotRequired[bool]
    """Whether the contact is subscribed to marketing mail; unchanged when absent."""
    data: NotRequired[Optional[Dict[str, Any]]]
    """Custom fields, merged into those of the contact; `null` as a value deletes a key."""


UpsertContactResult = TypedDict(
    "UpsertContactResult",
    {
        "id": "str",
        "email": "str",
        "subscribed": "bool",
        "data": "Dict[str, Any]",
        "dataOmitted": "NotRequired[bool]",
        "projectId": "str",
        "createdAt": "str",
        "updatedAt": "str",
        "_meta": "UpsertContactResultMeta",
    },
)


class UpsertContactResultMeta(TypedDict):
    """Whether the request created or updated the contact."""
    isNew: bool
    """Whether the request created the contact."""
    isUpdate: bool
    """Whether the contact existed before the request."""


class VerifyAddressRequest(TypedDict):
    email: str
    """Email address to verify."""


class VerifyAddressResult(TypedDict):
    success: Literal[True]
    """Always true."""
    data: AddressVerification
    """The result of the verification."""


class WaitingPlan(TypedDict):
    id: str
    """ID of the plan."""
    action: str
    """What is planned, such as `launch_campaign`."""
    sentence: str
    """What would happen, as a sentence. Values from the project’s data are quoted."""
    affects: int
    """Number of contacts it reaches."""
    samples: List[str]
    """Addresses of some of these contacts."""
    key: Optional[str]
    """Name of the API key that made the plan; null when the key was deleted."""
    expiresAt: str
    """When the plan expires unless it is approved."""
    createdAt: str
    """When the plan was made."""


class WebhookAttempt(TypedDict):
    at: str
    """When the endpoint was called."""
    statusCode: Optional[int]
    """HTTP status of the response; null if there was none."""
    ms: int
    """Duration of the call, in milliseconds."""
    answer: Optional[str]
    """First 4 KB of the response body; null if there was no response."""
    error: Optional[str]
    """Why there was no response; null if there was one."""


class WebhookDeliveriesPage(TypedDict):
    data: List[WebhookDelivery]
    """Deliveries on this page, newest first."""
    cursor: Optional[str]
    """Pass it as `cursor` to get the next page; null on the last page."""
    hasMore: bool
    """Whether there is another page. With `type`, a page may be short or even empty although there is one."""


class WebhookDelivery(TypedDict):
    eventId: str
    """ID of the event."""
    webhookId: str
    """`webhook-id` of the calls, the same for every attempt."""
    sequence: int
    """Number of the event among those of the endpoint, without gaps; `webhook-sequence` of the calls."""
    type: str
    """Name of the event."""
    eventAt: str
    """When the event happened."""
    status: Literal["PENDING", "DELIVERED", "FAILED"]
    """`PENDING`, `DELIVERED`, or `FAILED` once all attempts are used up."""
    attempts: int
    """Number of attempts so far."""
    nextAttemptAt: Optional[str]
    """When the next attempt is due; null if there is none."""


class WebhookDeliveryWithAttempts(TypedDict):
    eventId: str
    """ID of the event."""
    webhookId: str
    """`webhook-id` of the calls, the same for every attempt."""
    sequence: int
    """Number of the event among those of the endpoint, without gaps; `webhook-sequence` of the calls."""
    type: str
    """Name of the event."""
    eventAt: str
    """When the event happened."""
    status: Literal["PENDING", "DELIVERED", "FAILED"]
    """`PENDING`, `DELIVERED`, or `FAILED` once all attempts are used up."""
    attempts: int
    """Number of attempts so far."""
    nextAttemptAt: Optional[str]
    """When the next attempt is due; null if there is none."""
    body: Optional[str]
    """Body of the calls; null when the event was deleted."""
    log: List[WebhookAttempt]
    """Attempts, oldest first."""


class WebhookEndpoint(TypedDict):
    id: str
    """ID of the endpoint."""
    url: str
    """URL that is called."""
    description: Optional[str]
    """Description of the endpoint; null if there is none."""
    events: List[str]
    """Events that are delivered: names, prefixes such as `contact.*`, or `*` for all."""
    payload: Literal["full", "thin"]
    """What a call carries: `full` for the whole event, `thin` to leave its data out."""
    ordered: bool
    """Whether events are delivered one at a time, each after the previous one was accepted."""
    status: Literal["ENABLED", "PAUSED", "DISABLED"]
    """`ENABLED`; `PAUSED` by a person; or `DISABLED` by the service, for `disabledReason`."""
    disabledReason: Optional[str]
    """Why the service disabled the endpoint; null unless it did."""
    lastSequence: int
    """Number of events queued for the endpoint so far."""
    failingSince: Optional[str]
    """Time from which on all calls have failed; null while calls succeed."""
    restingUntil: Optional[str]
    """When the endpoint is called again, after it asked to wait (429, 502, 503, 504 or `Retry-After`); null while it is not resting."""
    health: NotRequired[List[WebhookEndpointHealthItem]]
    """Deliveries by the hour of their event in the last 24 hours, oldest first. Only with `include=health`."""
    createdAt: str
    """When the endpoint was created."""
    updatedAt: str
    """When the endpoint last changed."""


class WebhookEndpointHealthItem(TypedDict):
    at: str
    """When the hour begins."""
    delivered: int
    """Number of events of this hour that were delivered."""
    failed: int
    """Number of events of this hour that used up their attempts."""
    pending: int
    """Number of events of this hour that are not delivered yet."""


WebhookEndpointAudit = TypedDict(
    "WebhookEndpointAudit",
    {
        "from": "str",
        "until": "str",
        "events": "int",
        "delivered": "int",
        "failed": "int",
        "pending": "int",
        "addsUp": "bool",
        "firstSequence": "Optional[int]",
        "lastSequence": "Optional[int]",
    },
)


class WebhookEndpointWithSecret(TypedDict):
    id: str
    """ID of the endpoint."""
    url: str
    """URL that is called."""
    description: Optional[str]
    """Description of the endpoint; null if there is none."""
    events: List[str]
    """Events that are delivered: names, prefixes such as `contact.*`, or `*` for all."""
    payload: Literal["full", "thin"]
    """What a call carries: `full` for the whole event, `thin` to leave its data out."""
    ordered: bool
    """Whether events are delivered one at a time, each after the previous one was accepted."""
    status: Literal["ENABLED", "PAUSED", "DISABLED"]
    """`ENABLED`; `PAUSED` by a person; or `DISABLED` by the service, for `disabledReason`."""
    disabledReason: Optional[str]
    """Why the service disabled the endpoint; null unless it did."""
    lastSequence: int
    """Number of events queued for the endpoint so far."""
    failingSince: Optional[str]
    """Time from which on all calls have failed; null while calls succeed."""
    restingUntil: Optional[str]
    """When the endpoint is called again, after it asked to wait (429, 502, 503, 504 or `Retry-After`); null while it is not resting."""
    health: NotRequired[List[WebhookEndpointWithSecretHealthItem]]
    """Deliveries by the hour of their event in the last 24 hours, oldest first. Only with `include=health`."""
    createdAt: str
    """When the endpoint was created."""
    updatedAt: str
    """When the endpoint last changed."""
    secret: str
    """Secret that signs the calls, as base64 with the prefix `whsec_`. It is not shown again."""


class WebhookEndpointWithSecretHealthItem(TypedDict):
    at: str
    """When the hour begins."""
    delivered: int
    """Number of events of this hour that were delivered."""
    failed: int
    """Number of events of this hour that used up their attempts."""
    pending: int
    """Number of events of this hour that are not delivered yet."""


class WebhookReplay(TypedDict):
    id: str
    """ID of the replay."""
    since: str
    """Start of the period."""
    until: str
    """End of the period."""
    events: List[str]
    """Events that are delivered again: names, prefixes or `*`."""
    only: Literal["failed", "all"]
    """`failed` if only events that used up their attempts are delivered again; otherwise `all`."""
    status: Literal["RUNNING", "DONE"]
    """`RUNNING`, then `DONE` once all events are queued."""
    requeued: int
    """Number of events queued again so far."""
    createdAt: str
    """When the replay was requested."""


class Workflow(TypedDict):
    id: str
    """ID of the workflow."""
    projectId: str
    """ID of the project that the workflow belongs to."""
    name: str
    """Name of the workflow."""
    description: Optional[str]
    """Description of the workflow; null if there is none."""
    enabled: bool
    """Whether the workflow is enabled, so that contacts can enter it."""
    triggerType: Literal["EVENT", "MANUAL", "SCHEDULE", "CONTACT_CREATED", "DATE"]
    """How contacts enter: `EVENT` at an event, `MANUAL` by a request, `SCHEDULE` at the times of a cron expression, `CONTACT_CREATED` when they are created, `DATE` at a date of theirs."""
    triggerConfig: Optional[Dict[str, Any]]
    """Configuration of the trigger. `EVENT`: `eventName`, and `where` to test the data of the event. `SCHEDULE`: `schedule`, `timezone`, and `segmentId` or `audienceCondition`. `CONTACT_CREATED`: `audienceCondition` and `imports`. `DATE`: `field`, `offset`, `at`, `every`, `zone` and `fallback`. Null if there is none."""
    allowReentry: bool
    """Whether a contact can enter again after leaving."""
    pausedAt: Optional[str]
    """Since when the workflow is paused; null if it is not."""
    createdAt: str
    """When the workflow was created."""
    updatedAt: str
    """When the workflow last changed."""


class WorkflowExecution(TypedDict):
    id: str
    """ID of the execution."""
    workflowId: str
    """ID of the workflow."""
    contactId: str
    """ID of the contact."""
    status: Literal["RUNNING", "WAITING", "COMPLETED", "EXITED", "FAILED", "CANCELLED"]
    """`RUNNING` or `WAITING` while it is active, then `COMPLETED`, `EXITED`, `FAILED` or `CANCELLED`."""
    currentStepId: Optional[str]
    """ID of the step that the contact is at, or at which the execution ended; null once it is `COMPLETED`."""
    exitReason: Optional[str]
    """Why the execution ended as `EXITED`, `FAILED` or `CANCELLED`; null otherwise."""
    context: Optional[Dict[str, Any]]
    """Data of the event or request that started the execution; null if there was none."""
    startedAt: str
    """When the contact entered the workflow."""
    completedAt: Optional[str]
    """When the execution ended; null while it is active."""
    createdAt: str
    """When the execution was created."""
    updatedAt: str
    """When the execution last changed."""


class WorkflowExecutionStory(TypedDict):
    id: str
    """ID of the execution."""
    workflowId: str
    """ID of the workflow."""
    contactId: str
    """ID of the contact."""
    status: Literal["RUNNING", "WAITING", "COMPLETED", "EXITED", "FAILED", "CANCELLED"]
    """`RUNNING` or `WAITING` while it is active, then `COMPLETED`, `EXITED`, `FAILED` or `CANCELLED`."""
    currentStepId: Optional[str]
    """ID of the step that the contact is at, or at which the execution ended; null once it is `COMPLETED`."""
    exitReason: Optional[str]
    """Why the execution ended as `EXITED`, `FAILED` or `CANCELLED`; null otherwise."""
    context: Optional[Dict[str, Any]]
    """Data of the event or request that started the execution; null if there was none."""
    startedAt: str
    """When the contact entered the workflow."""
    completedAt: Optional[str]
    """When the execution ended; null while it is active."""
    createdAt: str
    """When the execution was created."""
    updatedAt: str
    """When the execution last changed."""
    workflow: Workflow
    """The workflow that the execution belongs to."""
    contact: WorkflowExecutionStoryContact
    """The contact in the workflow."""
    currentStep: Optional[WorkflowStep]
    """The step in `currentStepId`; null if there is none."""
    stepExecutions: List[WorkflowStepExecution]
    """Steps that the contact has reached, oldest first."""
    waitingFor: Optional[str]
    """What the execution is waiting for: `timer`, `event <name>`, `an answer to its webhook`, `the workflow to resume` or `a worker`; null once it has ended."""
    waitingUntil: Optional[str]
    """When the wait ends at the latest; null if it has no end, or there is none."""
    waitingSince: Optional[str]
    """When the contact reached its current step; null once the execution has ended."""
    version: int
    """Number of the version of the graph that the execution follows."""
    nextVersion: Optional[int]
    """Number of the version that it continues with after the current step; null if it stays with its version."""
    temporal: WorkflowExecutionStoryTemporal
    """The execution in Temporal."""


class WorkflowExecutionStoryContact(TypedDict):
    """The contact in the workflow."""
    id: str
    """ID of the contact."""
    email: str
    """Address of the contact."""
    name: Optional[str]
    """Name of the contact by its data: first and last name, else `name`, `fullName` or `displayName`; null if it has none."""


class WorkflowStep(TypedDict):
    id: str
    """ID of the step."""
    workflowId: str
    """ID of the workflow that the step belongs to."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "WAIT_UNTIL", "CONDITION", "SPLIT", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """Type of the step. `config` depends on it."""
    name: str
    """Name of the step."""
    position: WorkflowStepPosition
    """Position of the step on the canvas."""
    config: Dict[str, Any]
    """Configuration of the step: a `WorkflowStepConfig`, or what was stored of one that is not finished yet."""
    templateId: Optional[str]
    """ID of the template that a `SEND_EMAIL` step sends; null for other steps, and until one is chosen."""
    note: Optional[str]
    """Note for the people who edit the workflow; null if there is none."""
    createdAt: str
    """When the step was created."""
    updatedAt: str
    """When the step last changed."""


class WorkflowStepPosition(TypedDict):
    """Position of the step on the canvas."""
    x: float
    """Pixels from the left."""
    y: float
    """Pixels from the top."""


class WorkflowStepExecution(TypedDict):
    id: str
    """ID of the step execution."""
    executionId: str
    """ID of the execution."""
    stepId: str
    """ID of the step."""
    status: Literal["PENDING", "SCHEDULED", "WAITING", "RUNNING", "COMPLETED", "SKIPPED", "FAILED"]
    """`PENDING`, `SCHEDULED`, `WAITING` or `RUNNING`, then `COMPLETED`, `SKIPPED` or `FAILED`."""
    scheduledFor: Optional[str]
    """When a delay or a `WAIT_UNTIL` ends; null for other steps, and while the contact has no date to wait for."""
    executeAfter: Optional[str]
    """When a wait for an event times out; null for other steps and for waits without a timeout."""
    input: Optional[Dict[str, Any]]
    """Data that the step started with; null if there was none."""
    output: Optional[Dict[str, Any]]
    """Result of the step, which depends on its type; null before it ends."""
    error: Optional[str]
    """Why the step failed or was skipped; null otherwise."""
    startedAt: str
    """When the contact reached the step."""
    completedAt: Optional[str]
    """When the step ended; null before."""
    createdAt: str
    """When the step execution was created."""
    updatedAt: str
    """When the step execution last changed."""
    durationMs: int
    """How long the step took, or has taken so far, in milliseconds."""
    step: WorkflowStepExecutionStep
    """The step that was executed."""


class WorkflowStepExecutionStep(TypedDict):
    """The step that was executed."""
    id: str
    """ID of the step."""
    name: str
    """Name of the step."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "WAIT_UNTIL", "CONDITION", "SPLIT", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """Type of the step."""


class WorkflowExecutionStoryTemporal(TypedDict):
    """The execution in Temporal."""
    workflowId: str
    """Workflow ID in Temporal."""
    url: str
    """URL of the execution in Temporal’s Web UI."""


class WorkflowGoalFigures(TypedDict):
    goal: Optional[WorkflowGoal]
    """Goal of the workflow as it is now; null if it has none."""
    entered: int
    """Number of times a contact has entered and is counted: without `metOnEntry`."""
    met: int
    """Number of these that have reached the goal in time, each at most once."""
    metOnEntry: int
    """Number of times a contact entered who met the condition already; not counted."""
    open: int
    """Number of those counted that have not reached the goal, and still have time."""
    rate: Optional[float]
    """`met` as a percentage of `entered`; null if nobody is counted."""
    interval: Optional[WorkflowGoalFiguresInterval]
    """95 % confidence interval of `rate` (Wilson), in percent; null if nobody is counted."""
    medianSeconds: Optional[int]
    """Median time from entering to the goal, in seconds; null if nobody reached it."""
    since: Optional[str]
    """When the first of them entered; null if nobody has."""
    groups: List[WorkflowGoalFiguresGroupsItem]
    """The same for each version or branch, with `by`; newest version first."""


class WorkflowGoalFiguresInterval(TypedDict):
    low: float
    """Lower bound."""
    high: float
    """Upper bound."""


class WorkflowGoalFiguresGroupsItem(TypedDict):
    version: Optional[int]
    """Version that the contacts have entered by; null for a branch."""
    stepId: Optional[str]
    """ID of the SPLIT step; null for a version."""
    branch: Optional[str]
    """ID of the branch; null for a version."""
    goal: Optional[WorkflowGoal]
    """Goal of the version; null for a branch."""
    entered: int
    """Number of times a contact has entered and is counted: without `metOnEntry`."""
    met: int
    """Number of these that have reached the goal in time, each at most once."""
    metOnEntry: int
    """Number of times a contact entered who met the condition already; not counted."""
    open: int
    """Number of those counted that have not reached the goal, and still have time."""
    rate: Optional[float]
    """`met` as a percentage of `entered`; null if nobody is counted."""
    interval: Optional[WorkflowGoalFiguresGroupsItemInterval]
    """95 % confidence interval of `rate` (Wilson), in percent; null if nobody is counted."""
    medianSeconds: Optional[int]
    """Median time from entering to the goal, in seconds; null if nobody reached it."""
    since: Optional[str]
    """When the first of them entered; null if nobody has."""


class WorkflowGoalFiguresGroupsItemInterval(TypedDict):
    low: float
    """Lower bound."""
    high: float
    """Upper bound."""


class WorkflowRolloutReport(TypedDict):
    id: str
    """ID of the rollout."""
    state: Literal["RUNNING", "FINISHED", "BACK", "STOPPED", "REPLACED"]
    """`RUNNING`: new contacts are shared out. `FINISHED`: all new contacts get the new version. `BACK`: all get the previous one again. `STOPPED`: the same, by a limit that was broken. `REPLACED`: another graph was published meanwhile."""
    percent: float
    """Share of new contacts who get the new version, in percent."""
    version: int
    """Number of the new version."""
    previousVersion: int
    """Number of the version that the other new contacts get."""
    stopIf: WorkflowRolloutReportStopIf
    """Limits that stop the rollout."""
    leastEntered: int
    """Limits count once this many contacts have entered the new version."""
    days: int
    """Length of the rollout in days."""
    startedAt: str
    """When the rollout started."""
    endsAt: str
    """When all new contacts get the new version, unless a limit is broken before."""
    endedAt: Optional[str]
    """When the rollout ended; null while it is under way."""
    stopped: Optional[WorkflowRolloutReportStopped]
    """The limit that was broken; null if none."""
    versions: List[WorkflowRolloutReportVersionsItem]
    """The new version and the previous one, side by side."""


class WorkflowRolloutReportStopIf(TypedDict):
    """Limits that stop the rollout."""
    failureRate: Optional[float]
    """Highest share of executions that fail, in percent; null for no limit."""
    unsubscribeRate: Optional[float]
    """Highest share of contacts who unsubscribe, in percent; null for no limit."""


class WorkflowRolloutReportStopped(TypedDict):
    limit: Literal["failureRate", "unsubscribeRate"]
    """`failureRate` or `unsubscribeRate`."""
    count: int
    """Number of executions that failed, or of contacts who unsubscribed."""
    of: int
    """Number of contacts who had entered the new version."""
    percent: float
    """Highest percentage that was allowed."""


class WorkflowRolloutReportVersionsItem(TypedDict):
    version: int
    """Number of the version."""
    isNew: bool
    """Whether it is the new version."""
    entered: int
    """Number of contacts who entered it since the rollout started."""
    active: int
    """Number of them who are still inside."""
    completed: int
    """Number of them who reached the end."""
    exited: int
    """Number of them who left early."""
    failed: int
    """Number of them whose execution failed."""
    cancelled: int
    """Number of them whose execution was canceled."""
    unsubscribed: int
    """Number of them who unsubscribed by an email of the workflow."""
    completedRate: Optional[float]
    """Contacts who reached the end, as a percentage of `entered`; null while nobody has entered."""
    exitedRate: Optional[float]
    """Contacts who left early, as a percentage of `entered`; null while nobody has entered."""
    failureRate: Optional[float]
    """Contacts whose execution failed, as a percentage of `entered`; null while nobody has entered."""
    unsubscribeRate: Optional[float]
    """Contacts who unsubscribed, as a percentage of `entered`; null while nobody has entered."""
    goal: Optional[WorkflowRolloutReportVersionsItemGoal]
    """Results of the goal among the contacts who entered it; they may still reach the goal when the rollout has ended. Null if the version has no goal."""


class WorkflowRolloutReportVersionsItemGoal(TypedDict):
    entered: int
    """Number of times a contact has entered and is counted: without `metOnEntry`."""
    met: int
    """Number of these that have reached the goal in time, each at most once."""
    metOnEntry: int
    """Number of times a contact entered who met the condition already; not counted."""
    open: int
    """Number of those counted that have not reached the goal, and still have time."""
    rate: Optional[float]
    """`met` as a percentage of `entered`; null if nobody is counted."""
    interval: Optional[WorkflowRolloutReportVersionsItemGoalInterval]
    """95 % confidence interval of `rate` (Wilson), in percent; null if nobody is counted."""
    medianSeconds: Optional[int]
    """Median time from entering to the goal, in seconds; null if nobody reached it."""
    since: Optional[str]
    """When the first of them entered; null if nobody has."""


class WorkflowRolloutReportVersionsItemGoalInterval(TypedDict):
    low: float
    """Lower bound."""
    high: float
    """Upper bound."""


class WorkflowSimulation(TypedDict):
    id: str
    """ID of the simulation."""
    workflowId: str
    """ID of the workflow."""
    state: Literal["waiting", "active", "delayed", "completed", "failed", "canceled"]
    """State of the job; `completed`, `failed` and `canceled` are final."""
    progress: int
    """Progress in percent, from 0 to 100."""
    createdAt: str
    """Time of the request."""
    at: Optional[str]
    """When members of a segment, or contacts by ID, enter; send it as `over.at` to repeat the simulation. Null for `over.event`."""
    failedReason: Optional[str]
    """Why the job failed as a whole; null unless its state is `failed`."""
    result: Optional[WorkflowSimulationResult]
    """What was simulated; null until it is completed."""


class WorkflowSimulationResult(TypedDict):
    contacts: int
    """Contacts, or executions, that were simulated."""
    more: bool
    """Whether there are more than `most`."""
    gone: int
    """Contacts that were deleted, or did not exist when they would have entered."""
    executions: int
    """Executions that started."""
    refused: Dict[str, int]
    """Entries that the rules of the workflow refused, by reason."""
    steps: List[WorkflowSimulationResultStepsItem]
    """Every step of the graph."""
    neverReached: List[str]
    """IDs of steps that no contact reached."""
    ends: WorkflowSimulationResultEnds
    """Executions by how they ended; `INSIDE` when their time was over before."""
    reasons: Dict[str, int]
    """Executions by why they ended, of those that exited or failed."""
    failures: List[WorkflowSimulationResultFailuresItem]
    """Steps that failed, most frequent first; up to 50."""
    mails: WorkflowSimulationResultMails
    """Emails of the workflow."""
    collisions: WorkflowSimulationResultCollisions
    """Emails of the workflow that may annoy their contact."""
    goal: Optional[WorkflowSimulationResultGoal]
    """The goal within the time that is simulated; null if the graph has none."""
    comparison: Optional[WorkflowSimulationResultComparison]
    """The other side of `compareWith`; null without."""
    unknown: List[WorkflowSimulationResultUnknownItem]
    """What the simulation does not know."""


class WorkflowSimulationResultStepsItem(TypedDict):
    stepId: str
    """ID of the step; for a new step, its name in the request."""
    name: str
    """Name of the step."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "WAIT_UNTIL", "CONDITION", "SPLIT", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """Type of the step."""
    reached: int
    """Executions that reached the step."""
    inside: int
    """Executions that were still at the step when their time was over."""
    failed: int
    """Executions that failed at the step."""
    paths: Dict[str, int]
    """Executions by the path that they took from the step: a branch, `EVENT` or `TIMEOUT`, `next`, `success`, or `exit:<id>`."""


class WorkflowSimulationResultEnds(TypedDict):
    """Executions by how they ended; `INSIDE` when their time was over before."""
    COMPLETED: int
    """Reached the end of their path."""
    EXITED: int
    """Left early."""
    FAILED: int
    """Failed at a step."""
    INSIDE: int
    """Were inside when their time was over."""


class WorkflowSimulationResultFailuresItem(TypedDict):
    stepId: str
    """ID of the step."""
    error: str
    """Why it failed."""
    count: int
    """Number of executions."""


class WorkflowSimulationResultMails(TypedDict):
    """Emails of the workflow."""
    count: int
    """Emails that are sent."""
    skipped: Dict[str, int]
    """Emails that are not sent, by reason."""
    timeZone: str
    """Time zone of days and hours: that of the project, or UTC."""
    byDay: List[WorkflowSimulationResultMailsByDayItem]
    """Emails by the day and hour at which they leave."""


class WorkflowSimulationResultMailsByDayItem(TypedDict):
    day: str
    """Day, in the time zone of `mails`."""
    count: int
    """Emails of the day."""
    byHour: List[int]
    """Emails of each hour of the day, from 0 to 23."""


class WorkflowSimulationResultCollisions(TypedDict):
    """Emails of the workflow that may annoy their contact."""
    within24Hours: WorkflowSimulationResultCollisionsWithin24Hours
    """Emails within 24 hours after another one of this workflow."""
    afterGoal: WorkflowSimulationResultCollisionsAfterGoal
    """Emails to contacts who had reached the goal in this execution."""
    quietHours: WorkflowSimulationResultCollisionsQuietHours
    """Emails that wait for the end of quiet hours."""


class WorkflowSimulationResultCollisionsWithin24Hours(TypedDict):
    """Emails within 24 hours after another one of this workflow."""
    mails: int
    """Number of emails."""
    contacts: int
    """Number of contacts."""


class WorkflowSimulationResultCollisionsAfterGoal(TypedDict):
    """Emails to contacts who had reached the goal in this execution."""
    mails: int
    """Number of emails."""
    contacts: int
    """Number of contacts."""


class WorkflowSimulationResultCollisionsQuietHours(TypedDict):
    """Emails that wait for the end of quiet hours."""
    mails: int
    """Number of emails."""
    contacts: int
    """Number of contacts."""


class WorkflowSimulationResultGoal(TypedDict):
    met: int
    """Executions that reached it."""
    metOnEntry: int
    """Executions whose contact met its condition on entry; they are not counted."""


class WorkflowSimulationResultComparison(TypedDict):
    with: Union[Literal["actual"], int]
    """Number of the version, or `actual`."""
    counts: WorkflowSimulationCounts
    """What the executions there come to."""
    mails: List[WorkflowSimulationResultComparisonMailsItem]
    """Contacts by what differs, for each email."""
    agreement: Optional[WorkflowSimulationResultComparisonAgreement]
    """Whether executions of the same version do what was recorded; null unless the comparison is with `actual`."""


class WorkflowSimulationCounts(TypedDict):
    executions: int
    """Executions that started."""
    refused: Dict[str, int]
    """Entries that the rules of the workflow refused, by reason."""
    steps: List[WorkflowSimulationCountsStepsItem]
    """Every step of the graph."""
    neverReached: List[str]
    """IDs of steps that no contact reached."""
    ends: WorkflowSimulationCountsEnds
    """Executions by how they ended; `INSIDE` when their time was over before."""
    reasons: Dict[str, int]
    """Executions by why they ended, of those that exited or failed."""
    failures: List[WorkflowSimulationCountsFailuresItem]
    """Steps that failed, most frequent first; up to 50."""
    mails: WorkflowSimulationCountsMails
    """Emails of the workflow."""
    collisions: WorkflowSimulationCountsCollisions
    """Emails of the workflow that may annoy their contact."""
    goal: Optional[WorkflowSimulationCountsGoal]
    """The goal within the time that is simulated; null if the graph has none."""


class WorkflowSimulationCountsStepsItem(TypedDict):
    stepId: str
    """ID of the step; for a new step, its name in the request."""
    name: str
    """Name of the step."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "WAIT_UNTIL", "CONDITION", "SPLIT", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """Type of the step."""
    reached: int
    """Executions that reached the step."""
    inside: int
    """Executions that were still at the step when their time was over."""
    failed: int
    """Executions that failed at the step."""
    paths: Dict[str, int]
    """Executions by the path that they took from the step: a branch, `EVENT` or `TIMEOUT`, `next`, `success`, or `exit:<id>`."""


class WorkflowSimulationCountsEnds(TypedDict):
    """Executions by how they ended; `INSIDE` when their time was over before."""
    COMPLETED: int
    """Reached the end of their path."""
    EXITED: int
    """Left early."""
    FAILED: int
    """Failed at a step."""
    INSIDE: int
    """Were inside when their time was over."""


class WorkflowSimulationCountsFailuresItem(TypedDict):
    stepId: str
    """ID of the step."""
    error: str
    """Why it failed."""
    count: int
    """Number of executions."""


class WorkflowSimulationCountsMails(TypedDict):
    """Emails of the workflow."""
    count: int
    """Emails that are sent."""
    skipped: Dict[str, int]
    """Emails that are not sent, by reason."""
    timeZone: str
    """Time zone of days and hours: that of the project, or UTC."""
    byDay: List[WorkflowSimulationCountsMailsByDayItem]
    """Emails by the day and hour at which they leave."""


class WorkflowSimulationCountsMailsByDayItem(TypedDict):
    day: str
    """Day, in the time zone of `mails`."""
    count: int
    """Emails of the day."""
    byHour: List[int]
    """Emails of each hour of the day, from 0 to 23."""


class WorkflowSimulationCountsCollisions(TypedDict):
    """Emails of the workflow that may annoy their contact."""
    within24Hours: WorkflowSimulationCountsCollisionsWithin24Hours
    """Emails within 24 hours after another one of this workflow."""
    afterGoal: WorkflowSimulationCountsCollisionsAfterGoal
    """Emails to contacts who had reached the goal in this execution."""
    quietHours: WorkflowSimulationCountsCollisionsQuietHours
    """Emails that wait for the end of quiet hours."""


class WorkflowSimulationCountsCollisionsWithin24Hours(TypedDict):
    """Emails within 24 hours after another one of this workflow."""
    mails: int
    """Number of emails."""
    contacts: int
    """Number of contacts."""


class WorkflowSimulationCountsCollisionsAfterGoal(TypedDict):
    """Emails to contacts who had reached the goal in this execution."""
    mails: int
    """Number of emails."""
    contacts: int
    """Number of contacts."""


class WorkflowSimulationCountsCollisionsQuietHours(TypedDict):
    """Emails that wait for the end of quiet hours."""
    mails: int
    """Number of emails."""
    contacts: int
    """Number of contacts."""


class WorkflowSimulationCountsGoal(TypedDict):
    met: int
    """Executions that reached it."""
    metOnEntry: int
    """Executions whose contact met its condition on entry; they are not counted."""


class WorkflowSimulationResultComparisonMailsItem(TypedDict):
    templateId: Optional[str]
    """ID of the template; null for a step without one."""
    same: int
    """Contacts who get it in both, at the same time."""
    onlyHere: int
    """Contacts who get it only here."""
    onlyThere: int
    """Contacts who get it only there."""
    earlier: int
    """Contacts who get it earlier here."""
    later: int
    """Contacts who get it later here."""


class WorkflowSimulationResultComparisonAgreement(TypedDict):
    agree: int
    """Executions that the simulation repeats step by step, at the same instants."""
    compared: int
    """Executions that can be compared."""
    notComparable: Dict[str, int]
    """Executions that cannot be compared, by reason."""
    differences: List[WorkflowSimulationResultComparisonAgreementDifferencesItem]
    """The first executions that differ, up to 20."""


class WorkflowSimulationResultComparisonAgreementDifferencesItem(TypedDict):
    contactId: str
    """ID of the contact."""
    executionId: str
    """ID of the execution."""
    stepId: Optional[str]
    """ID of the step at which they part; null for the end."""
    differs: List[str]
    """What differs, such as `outcome` or `scheduledFor`."""


class WorkflowSimulationResultUnknownItem(TypedDict):
    code: Literal["history", "entries", "events", "future", "settings"]
    """`history`: the contact as of then is older than its history. `entries`, `events`: more entries or events than are followed. `future`: the execution goes on after now, where no event is known. `settings`: the project was changed since."""
    contacts: int
    """Number of contacts it applies to."""


class WorkflowTestRun(TypedDict):
    end: Literal["COMPLETED", "EXITED", "FAILED", "WAITING"]
    """How the execution would end: `COMPLETED`, `EXITED` or `FAILED`; `WAITING` if it would wait indefinitely."""
    reason: Optional[str]
    """Why it would end so; null for `COMPLETED`."""
    endsAt: Optional[str]
    """When the contact would leave the workflow; null if it would wait indefinitely."""
    steps: List[WorkflowTestRunStep]
    """Steps that the contact would reach, in order."""


class WorkflowTestRunStep(TypedDict):
    stepId: str
    """ID of the step; for a new step, its name in the request."""
    name: str
    """Name of the step."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "WAIT_UNTIL", "CONDITION", "SPLIT", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """Type of the step."""
    at: str
    """When the contact would reach the step."""
    outcome: Literal["COMPLETED", "SKIPPED", "FAILED", "WAITING"]
    """`COMPLETED`; `SKIPPED` for an email that would not be sent to this contact; `FAILED`; or `WAITING` for an event that never comes, without a timeout, or for a date that the contact does not have."""
    output: Dict[str, Any]
    """What the step would do, which depends on its type: the rendered subject and until when quiet hours would hold the email (`heldUntil`), the compared values, the request, or the new data."""
    error: Optional[str]
    """Why the step would fail; null otherwise."""


class WorkflowVersion(TypedDict):
    version: int
    """Version number, counting from 1."""
    createdAt: str
    """When the version was published."""
    isCurrent: bool
    """Whether contacts that enter now get this version."""
    steps: List[WorkflowVersionStepsItem]
    """Steps of the version."""
    exits: List[WorkflowExit]
    """What ends executions of the version early."""
    goal: Optional[WorkflowGoal]
    """Goal of the version; null if it has none."""
    transitions: List[WorkflowVersionTransitionsItem]
    """Transitions of the version."""


class WorkflowVersionStepsItem(TypedDict):
    id: str
    """ID of the step."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "WAIT_UNTIL", "CONDITION", "SPLIT", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """Type of the step. `config` depends on it."""
    name: str
    """Name of the step."""
    config: Dict[str, Any]
    """Configuration of the step: a `WorkflowStepConfig`, or what was stored of one that is not finished yet."""
    templateId: Optional[str]
    """ID of the template that a `SEND_EMAIL` step sends; null for other steps, and until one is chosen."""
    note: Optional[str]
    """Note for the people who edit the workflow; null if there is none."""
    position: Optional[WorkflowVersionStepsItemPosition]
    """Position of the step on the canvas; null if none was stored."""
    template: Optional[WorkflowVersionStepsItemTemplate]
    """Template that the step sends, with its current name; null for other steps and deleted templates."""


class WorkflowVersionStepsItemPosition(TypedDict):
    x: float
    """Pixels from the left."""
    y: float
    """Pixels from the top."""


class WorkflowVersionStepsItemTemplate(TypedDict):
    id: str
    """ID of the template."""
    name: str
    """Current name of the template."""


class WorkflowVersionTransitionsItem(TypedDict):
    id: str
    """ID of the transition."""
    fromStepId: str
    """ID of the step that the transition leaves."""
    toStepId: str
    """ID of the step that the transition leads to."""
    branch: Optional[str]
    """Branch of a condition that takes this transition, such as `yes`; null for other steps."""
    waitOutcome: Optional[Literal["EVENT", "TIMEOUT"]]
    """Outcome of a wait that takes this transition: `EVENT` or `TIMEOUT`; null for both, and for other steps."""
    priority: int
    """Position among the transitions of the step: lower numbers are tried first."""


ListEmailsQuery = TypedDict(
    "ListEmailsQuery",
    {
        "contactId": "NotRequired[str]",
        "to": "NotRequired[str]",
        "tag": "NotRequired[str]",
        "status": "NotRequired[Literal['PENDING', 'SENDING', 'SENT', 'DELIVERED', 'RECEIVED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED', 'FAILED', 'SUPPRESSED', 'CANCELLED']]",
        "source": "NotRequired[Literal['TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND']]",
        "subject": "NotRequired[str]",
        "from": "NotRequired[str]",
        "until": "NotRequired[str]",
        "scheduled": "NotRequired[Literal['true']]",
        "cursor": "NotRequired[str]",
        "limit": "NotRequired[int]",
    },
)


class GetEmailQuery(TypedDict):
    include: NotRequired[Literal["body"]]
    """`body` adds the HTML and the text part."""


class ListContactsQuery(TypedDict):
    limit: NotRequired[int]
    """Number of items on a page, 1 to 100. Default: `20`."""
    cursor: NotRequired[str]
    """`cursor` of the page before, unchanged; the first page when absent or empty."""
    email: NotRequired[str]
    """The contact with exactly this address, in any letter case."""
    search: NotRequired[str]
    """Text in the address, in any letter case."""
    subscribed: NotRequired[bool]
    """All when absent."""
    sort: NotRequired[Literal["email", "createdAt", "updatedAt"]]
    """What to sort by. Default: `"createdAt"`."""
    dir: NotRequired[Literal["asc", "desc"]]
    """Sort order: `asc` for ascending, `desc` for descending. Default: `"desc"`."""


class GetContactQuery(TypedDict):
    at: NotRequired[str]
    """The contact as it was at this instant, such as `2026-11-01T12:00:00Z`; as it is when absent."""


class DeleteContactQuery(TypedDict):
    restorable: NotRequired[bool]
    """Whether the contact can be restored for 7 days; `false` when absent."""


class ListContactHistoryQuery(TypedDict):
    limit: NotRequired[int]
    """Number of items on a page, 1 to 200. Default: `50`."""
    cursor: NotRequired[str]
    """`cursor` of the page before, unchanged; the first page when absent or empty."""


class ListContactEventsQuery(TypedDict):
    limit: NotRequired[int]
    """Number of items on a page, 1 to 1000. Default: `50`."""


class ListSegmentContactsQuery(TypedDict):
    page: NotRequired[int]
    """Page number, counting from 1. Default: `1`."""
    pageSize: NotRequired[int]
    """Number of items on a page, 1 to 100. Default: `20`."""


class ListEventsQuery(TypedDict):
    eventName: NotRequired[str]
    """Events of this name; all when absent."""
    limit: NotRequired[int]
    """Number of items on a page, 1 to 1000. Default: `100`."""


class GetEventStatsQuery(TypedDict):
    startDate: NotRequired[str]
    """First day or instant; without a bound when absent."""
    endDate: NotRequired[str]
    """Last day or instant; without a bound when absent."""


class GetEventStatsResponseItem(TypedDict):
    name: str
    """Name of the event."""
    count: int
    """Number of times the event occurred."""


class ListSuppressedEmailsQuery(TypedDict):
    limit: NotRequired[int]
    """Number of items on a page, 1 to 100. Default: `20`."""
    cursor: NotRequired[str]
    """`cursor` of the page before, unchanged; the first page when absent or empty."""


class ListContactJobsQuery(TypedDict):
    limit: NotRequired[int]
    """Number of items on a page, 1 to 100. Default: `20`."""
    cursor: NotRequired[str]
    """`cursor` of the page before, unchanged; the first page when absent or empty."""


class ListErasuresQuery(TypedDict):
    limit: NotRequired[int]
    """Number of items on a page, 1 to 100. Default: `20`."""
    cursor: NotRequired[str]
    """`cursor` of the page before, unchanged; the first page when absent or empty."""


class ListTemplatesQuery(TypedDict):
    page: NotRequired[int]
    """Page number, counting from 1. Default: `1`."""
    pageSize: NotRequired[int]
    """Number of items on a page, 1 to 100. Default: `20`."""
    type: NotRequired[Literal["TRANSACTIONAL", "MARKETING", "HEADLESS"]]
    """Templates of this type; all when absent."""
    search: NotRequired[str]
    """Text in the name, description or subject, in any letter case."""
    sort: NotRequired[Literal["name", "subject", "type", "createdAt", "updatedAt"]]
    """Field to sort by. Default: `"createdAt"`."""
    dir: NotRequired[Literal["asc", "desc"]]
    """Sort order: `asc` for ascending, `desc` for descending. Default: `"desc"`."""


class ListCampaignsQuery(TypedDict):
    page: NotRequired[int]
    """Page number, counting from 1. Default: `1`."""
    pageSize: NotRequired[int]
    """Number of items on a page, 1 to 1000. Default: `20`."""
    status: NotRequired[Literal["DRAFT", "SCHEDULED", "SENDING", "SENT", "CANCELLED"]]
    """Campaigns with this status; all when absent."""
    search: NotRequired[str]
    """Text in the name, subject or sender, in any letter case."""
    archived: NotRequired[bool]
    """`true` lists archived campaigns only; otherwise they are left out. Default: `false`."""
    sort: NotRequired[Literal["name", "subject", "status", "scheduledFor", "sentAt", "createdAt", "updatedAt"]]
    """Field to sort by. Default: `"createdAt"`."""
    dir: NotRequired[Literal["asc", "desc"]]
    """Sort order: `asc` for ascending, `desc` for descending. Default: `"desc"`."""


class ListCampaignRecipientsQuery(TypedDict):
    type: NotRequired[Literal["bounced", "complained"]]
    """Lists recipients whose email bounced or was reported as spam, newest first, instead of the ledger."""
    verdict: NotRequired[Literal["handed_over", "skipped", "failed", "unknown", "pending", "all"]]
    """Recipients with this verdict. Default: `"all"`."""
    did: NotRequired[Literal["sent", "delivered", "opened", "clicked", "not_opened", "not_clicked", "bounced", "complained", "unsubscribed"]]
    """Recipients of the ledger whose email was sent, delivered, opened or clicked, bounced, or was reported as spam; who unsubscribed by it; or who neither opened nor clicked it (`not_opened`) or did not click it (`not_clicked`), bounces excluded."""
    link: NotRequired[str]
    """With `did=clicked`, the link they clicked, as in `links` of the results; any link when absent."""
    format: NotRequired[Literal["csv"]]
    """`csv` returns all rows as CSV, regardless of `limit` and `cursor`."""
    limit: NotRequired[int]
    """Number of items on a page, 1 to 100. Default: `50`."""
    cursor: NotRequired[str]
    """`cursor` of the page before, unchanged; the first page when absent or empty."""


class ListWorkflowsQuery(TypedDict):
    page: NotRequired[int]
    """Page number, counting from 1. Default: `1`."""
    pageSize: NotRequired[int]
    """Number of items on a page, 1 to 100. Default: `20`."""
    limit: NotRequired[int]
    """Another name for `pageSize`."""
    cursor: NotRequired[str]
    """`cursor` of the page before, unchanged; the first page when absent or empty."""
    search: NotRequired[str]
    """Text in the name or description, in any letter case."""
    status: NotRequired[Literal["enabled", "disabled"]]
    """Workflows that are enabled or disabled; all when absent."""
    stepId: NotRequired[str]
    """The workflow that has this step; none when the step was deleted."""
    sort: NotRequired[Literal["name", "createdAt", "updatedAt", "steps"]]
    """Field to sort by. Default: `"createdAt"`."""
    dir: NotRequired[Literal["asc", "desc"]]
    """Sort order: `asc` for ascending, `desc` for descending. Default: `"desc"`."""


class ListWorkflowVersionsQuery(TypedDict):
    page: NotRequired[int]
    """Page number, counting from 1. Default: `1`."""
    pageSize: NotRequired[int]
    """Number of items on a page, 1 to 100. Default: `20`."""


class ListSimulatedContactsQuery(TypedDict):
    limit: NotRequired[int]
    """Number of items on a page, 1 to 200. Default: `50`."""
    cursor: NotRequired[str]
    """`cursor` of the page before, unchanged; the first page when absent or empty."""
    stepId: NotRequired[str]
    """Contacts who reach this step."""
    path: NotRequired[str]
    """Contacts who take this path from the step `stepId`."""
    end: NotRequired[Literal["COMPLETED", "EXITED", "FAILED", "INSIDE"]]
    """Contacts whose execution ends so."""
    mail: NotRequired[Literal["onlyHere", "onlyThere", "earlier", "later"]]
    """Contacts for whom an email differs so."""
    collision: NotRequired[Literal["within24Hours", "afterGoal", "quietHours"]]
    """Contacts with such an email."""
    agreement: NotRequired[Literal["agrees", "differs", "notComparable"]]
    """Executions that agree with what was recorded, differ, or cannot be compared."""


class ListWorkflowExecutionsQuery(TypedDict):
    page: NotRequired[int]
    """Page number, counting from 1. Default: `1`."""
    pageSize: NotRequired[int]
    """Number of items on a page, 1 to 100. Default: `20`."""
    status: NotRequired[str]
    """Executions with one of these statuses, separated by commas; all when absent."""
    contactId: NotRequired[str]
    """Executions of this contact."""
    stepId: NotRequired[str]
    """Active executions whose contact is at this step."""
    search: NotRequired[str]
    """Words of the address and the name of the contact, in any letter case, in the newest 10,000 executions of the workflow. Older ones are found by text in the address with at least 3 letters or digits in a row, which at most 1,000 contacts have."""


class CountWorkflowContactsQuery(TypedDict):
    days: NotRequired[int]
    """Counts paths of contacts that reached a step in the last this many days, 1 to 366; all time when absent."""


class GetWorkflowGoalQuery(TypedDict):
    by: NotRequired[Literal["version", "branch"]]
    """`version`: also for each version that contacts have entered by; `branch`: also for each branch of a SPLIT that they took."""


class ListWebhookEndpointsQuery(TypedDict):
    include: NotRequired[Literal["health"]]
    """`health` adds the deliveries of the last 24 hours by hour."""


class ListWebhookEndpointDeliveriesQuery(TypedDict):
    status: NotRequired[Literal["PENDING", "DELIVERED", "FAILED"]]
    """Deliveries with this status; all when absent."""
    type: NotRequired[str]
    """Deliveries of this event: a name, a prefix such as `contact.*`, or `*`."""
    limit: NotRequired[int]
    """Number of items on a page, 1 to 100. Default: `20`."""
    cursor: NotRequired[str]
    """`cursor` of the page before, unchanged; the first page when absent or empty."""


GetWebhookEndpointAuditQuery = TypedDict(
    "GetWebhookEndpointAuditQuery",
    {
        "from": "NotRequired[str]",
        "until": "NotRequired[str]",
    },
)


#: A recipient of `send` with the ID of their email.
SentEmail: TypeAlias = "SendEmailResultDataEmailsItem"
#: The outcome of an item of `send_batch`.
BatchOutcome: TypeAlias = "SendEmailBatchResultDataResultsItem"
