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
    """Unique ID."""
    type: Literal["event.triggered", "email.sent", "email.delivered", "email.received", "email.opened", "email.clicked", "email.bounced", "email.complaint", "campaign.sent", "campaign.scheduled", "workflow.started", "workflow.completed", "workflow.email.scheduled", "email.failed", "email.suppressed"]
    """The type."""
    timestamp: str
    """When it happened."""
    contactEmail: NotRequired[str]
    """The address of the contact."""
    contactId: NotRequired[str]
    """The contact."""
    metadata: Dict[str, Any]
    """What is known beyond the common fields; it depends on the type."""


class ActivityPage(TypedDict):
    data: List[Activity]
    """The data."""
    cursor: NotRequired[str]
    """Pass it on to get the next page; null after the last one."""
    hasMore: bool
    """Whether there is another page."""
    total: float
    """How many there are."""


class AddDomainRequest(TypedDict):
    domain: str
    """The domain."""
    projectId: NotRequired[str]
    """The project."""


class AddSegmentMembersRequest(TypedDict):
    emails: List[str]
    """Email addresses."""
    createMissing: NotRequired[bool]
    """Default: `false`."""
    subscribed: NotRequired[bool]
    """Default: `true`."""


class AddSegmentMembersResponse(TypedDict):
    added: float
    """How many were added."""
    created: float
    """How many were created."""
    notFound: List[str]
    """Addresses that are no contacts, as they were given."""


class AddressVerification(TypedDict):
    email: str
    """The email address."""
    valid: bool
    """Whether it is valid."""
    isDisposable: bool
    """Whether it is of a provider of throw-away addresses."""
    isAlias: bool
    """Whether it is an alias of a known provider."""
    isTypo: bool
    """Whether it looks like a mistyped provider."""
    isPlusAddressed: bool
    """Whether it has a part behind `+`."""
    isPersonalEmail: bool
    """Whether it is of a provider for private persons."""
    domainExists: bool
    """Whether the domain exists."""
    hasWebsite: bool
    """Whether the domain has a website."""
    hasMxRecords: bool
    """Whether the domain accepts mail."""
    suggestedEmail: NotRequired[str]
    """The address that was probably meant."""
    reasons: List[str]
    """The reasons, with counts where there are several."""


class ArchiveCampaignResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: CampaignWithSegment
    """The data."""


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
        "totalRecipients": "float",
        "sentCount": "float",
        "deliveredCount": "float",
        "openedCount": "float",
        "clickedCount": "float",
        "bouncedCount": "float",
        "complainedCount": "float",
        "unsubscribedCount": "float",
        "archived": "bool",
        "pausedAt": "Optional[str]",
        "pauseReason": "Optional[str]",
        "resendOf": "Optional[str]",
        "correction": "Optional[EarlierRecipients]",
        "contentVersion": "float",
        "revision": "float",
        "projectId": "str",
        "sentAt": "Optional[str]",
        "createdAt": "str",
        "updatedAt": "str",
        "segment": "Optional[Segment]",
        "approval": "Optional[CampaignApproval]",
        "held": "Optional[str]",
        "hold": "Optional[SendingHold]",
        "canary": "Optional[CampaignCanary]",
    },
)


class EarlierRecipients(TypedDict):
    versions: List[int]
    """The versions of the content whose recipients it goes to."""
    who: Literal["got", "opened", "clicked", "not_opened", "not_clicked"]
    """All recipients of the campaign, or only those who opened it, clicked a link, or did neither of these. Bounced emails count for `got` only."""


class Segment(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""
    description: Optional[str]
    """What it is for, in the words of its author."""
    type: Literal["DYNAMIC", "STATIC"]
    """The type."""
    condition: Optional[Condition]
    """The condition tree."""
    trackMembership: bool
    """Whether members are stored, and each entry and exit is an event."""
    memberCount: float
    """How many members it had when they were last counted."""
    revision: float
    """Counts every edit; the `ETag` without its quotes."""
    projectId: str
    """The project."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""


class Condition(TypedDict):
    """Groups of filters, at most 10 levels and 200 filters."""
    logic: Literal["AND", "OR"]
    """Whether all groups must match (`AND`) or one of them (`OR`)."""
    groups: List[ConditionGroup]
    """The groups, joined by `logic`."""


class ConditionGroup(TypedDict):
    filters: List[ConditionFilter]
    """The filters, all of which must hold."""
    conditions: NotRequired[Optional[Condition]]
    """A condition tree inside the group, joined to its filters."""


ConditionFilter: TypeAlias = "Union[ConditionComparison, ConditionWindow, ConditionState]"


class ConditionComparison(TypedDict):
    field: str
    """`email`, `subscribed`, `createdAt`, `updatedAt`, `data.<key>`, `event.<name>`, `email.<activity>` or `segment.<id>`."""
    operator: Literal["equals", "notEquals", "contains", "notContains", "greaterThan", "lessThan", "greaterThanOrEqual", "lessThanOrEqual"]
    """How the field is compared."""
    value: Any
    """What the field is compared with."""


class ConditionWindow(TypedDict):
    field: str
    """`email`, `subscribed`, `createdAt`, `updatedAt`, `data.<key>`, `event.<name>`, `email.<activity>` or `segment.<id>`."""
    operator: Literal["within", "olderThan", "triggeredWithin", "triggeredOlderThan", "notTriggeredWithin"]
    """How the field is compared."""
    value: Union[float, str]
    """What the field is compared with."""
    unit: Literal["days", "hours", "minutes"]
    """The unit of time."""


class ConditionState(TypedDict):
    field: str
    """`email`, `subscribed`, `createdAt`, `updatedAt`, `data.<key>`, `event.<name>`, `email.<activity>` or `segment.<id>`."""
    operator: Literal["exists", "notExists", "triggered", "notTriggered", "memberOfSegment", "notMemberOfSegment"]
    """How the field is compared."""


class CampaignApproval(TypedDict):
    state: Literal["PENDING"]
    """`PENDING`."""
    fingerprint: str
    """Names exactly this content, these settings and this audience; null until it is done."""
    review: float
    """The number of the dry run."""
    recipients: float
    """How many contacts it reaches."""
    drift: Union[Literal["none"], Literal["fewer"], float]
    """How far the audience may have changed since the review."""
    scheduledFor: Optional[str]
    """When it is to be sent; null for at once."""
    requestedBy: CampaignApprovalRequestedBy
    """Who asked for it."""
    requestedAt: str
    """When it was asked for."""
    expiresAt: str
    """When the review expires, and the request with it."""


class CampaignApprovalRequestedBy(TypedDict):
    """Who asked for it."""
    kind: Literal["user", "key", "mcp", "system"]
    """What kind it is."""
    id: Optional[str]
    """Unique ID."""
    name: Optional[str]
    """The name."""


class SendingHold(TypedDict):
    provider: str
    """The provider: `postmark`, `ses`, `smtp` or `sandbox`."""
    reason: str
    """What the provider said, or how calling it failed."""
    since: str
    """When it stopped accepting mail."""
    until: str
    """When it is tried again."""


class CampaignCanary(TypedDict):
    state: Literal["WAITING", "SENDING", "HOLDING", "STOPPED", "PASSED"]
    """WAITING for the audience, SENDING the slice, HOLDING until its reports are in, STOPPED with the campaign paused, or PASSED."""
    recipients: float
    """Size of the slice."""
    hold: str
    """How long to wait for reports about the slice, such as `60m`."""
    stopIf: CampaignCanaryStopIf
    """Percentages of the slice; above one of them the campaign is paused. Null is no limit."""
    minDelivered: float
    """The campaign is paused at the end of the hold with fewer delivered messages than this."""
    heldUntil: Optional[str]
    """When the hold ends; null before and after it."""
    releasedAt: Optional[str]
    """When someone ended the canary to continue."""
    endedAt: Optional[str]
    """When the canary passed or stopped the campaign."""
    counts: CampaignCanaryCounts
    """What happened to the slice."""
    stopped: Optional[CampaignCanaryStopped]
    """Why the canary paused the campaign; null where it did not."""


class CampaignCanaryStopIf(TypedDict):
    """Percentages of the slice; above one of them the campaign is paused. Null is no limit."""
    bounceRate: Optional[float]
    """Permanent bounces, in percent."""
    complaintRate: Optional[float]
    """Spam reports, in percent."""
    unsubscribeRate: Optional[float]
    """Unsubscribed recipients, in percent."""


class CampaignCanaryCounts(TypedDict):
    """What happened to the slice."""
    pending: float
    """Not handed over yet."""
    mailed: float
    """Handed over to the provider."""
    delivered: float
    """Reported as delivered."""
    bounced: float
    """Reported as bounced."""
    complained: float
    """Reported as spam."""
    unsubscribed: float
    """Unsubscribed by this mail."""


class CampaignCanaryStopped(TypedDict):
    code: Literal["canary_bounce_rate", "canary_complaint_rate", "canary_unsubscribe_rate", "canary_too_few_delivered"]
    """What is wrong, for programs."""
    count: float
    """How many."""
    of: float
    """How many it is compared with."""
    limit: float
    """The percentage that was exceeded, or the number that was not reached."""


class BareError(TypedDict):
    error: str
    """What went wrong, as a sentence for people."""


class BillingConsumption(TypedDict):
    period: BillingConsumptionPeriod
    """The billing period."""
    usage: BillingConsumptionUsage
    """How much is used."""
    credits: Optional[BillingConsumptionCredits]
    """Credit notes of the account."""
    upcomingInvoice: Optional[BillingConsumptionUpcomingInvoice]
    """The next invoice; null without one."""


class BillingConsumptionPeriod(TypedDict):
    """The billing period."""
    start: str
    """When it begins."""
    end: str
    """When it ends."""


class BillingConsumptionUsage(TypedDict):
    """How much is used."""
    total: float
    """The sum."""
    records: List[Any]
    """The records."""


class BillingConsumptionCredits(TypedDict):
    balance: float
    """The balance of the account, in the smallest unit of the currency."""
    hasCredits: bool
    """Whether there is any credit."""
    creditAmount: float
    """The credit, in the smallest unit of the currency."""
    currency: Optional[str]
    """The currency, such as `usd`."""


class BillingConsumptionUpcomingInvoice(TypedDict):
    amountDue: float
    """What is to be paid, in the smallest unit of the currency."""
    currency: str
    """The currency, such as `usd`."""
    periodStart: str
    """When the period begins."""
    periodEnd: str
    """When the period ends."""
    subtotal: float
    """The sum before taxes, in the smallest unit of the currency."""
    total: float
    """The sum."""


class BillingLimits(TypedDict):
    workflows: UsageLimit
    """The limit of workflow mail."""
    campaigns: UsageLimit
    """Campaigns, or what concerns them."""
    transactional: UsageLimit
    """The limit of transactional mail."""
    inbound: UsageLimit
    """The limit of received mail."""
    daily: NotRequired[UsageLimit]
    """Emails of today (UTC), for a project that the operator of the service has not approved."""
    currency: Optional[str]
    """The currency, such as `usd`."""


class UsageLimit(TypedDict):
    limit: Optional[float]
    """The limit; null without one."""
    usage: float
    """How much is used."""
    percentage: float
    """How much of the limit is used, in percent."""
    isWarning: bool
    """Whether 80 % of the limit are used."""
    isBlocked: bool
    """Whether the limit is reached."""


class BinaryConditionStepConfig(TypedDict):
    mode: NotRequired[Literal["binary"]]
    """How it is evaluated: `binary` with two branches, or `multi`."""
    field: str
    """The field."""
    operator: Literal["equals", "notEquals", "contains", "notContains", "greaterThan", "lessThan", "greaterThanOrEqual", "lessThanOrEqual", "exists", "notExists"]
    """How the field is compared."""
    value: NotRequired[Any]
    """What the field is compared with."""


class BrandKit(TypedDict):
    logoUrl: NotRequired[Optional[str]]
    """Default: `null`."""
    logoAlt: NotRequired[str]
    """Default: `""`."""
    primaryColor: NotRequired[str]
    """Default: `"#1f2937"`."""
    textColor: NotRequired[str]
    """Default: `"#1f2937"`."""
    backgroundColor: NotRequired[str]
    """Default: `"#f4f4f5"`."""
    font: NotRequired[Literal["System", "Arial", "Verdana", "Georgia", "Courier"]]
    """Default: `"System"`."""
    footer: NotRequired[str]
    """Default: `""`."""
    postalAddress: NotRequired[str]
    """Default: `""`."""


class BulkJob(TypedDict):
    id: str
    """Unique ID."""
    state: Literal["waiting", "active", "delayed", "completed", "failed"]
    """The state of the job."""
    progress: float
    """How much is done, in percent."""
    result: Optional[BulkJobResult]
    """What the job did; null before it ends."""
    data: BulkJobData
    """The data."""
    failedReason: Optional[str]
    """Why it failed as a whole; null unless it did."""


class BulkJobResult(TypedDict):
    operation: Literal["subscribe", "unsubscribe", "delete", "add-to-segment", "undo"]
    """What the job does."""
    totalRequested: float
    """How many contacts were asked for."""
    successCount: float
    """How many succeeded."""
    unchangedCount: float
    """Rows that changed nothing."""
    failureCount: float
    """How many failed."""
    errors: List[BulkJobResultErrorsItem]
    """What went wrong, by item."""
    reasons: Dict[str, float]
    """The reasons, with counts where there are several."""


class BulkJobResultErrorsItem(TypedDict):
    contactId: Optional[str]
    """The contact."""
    email: Optional[str]
    """The email address."""
    error: str
    """What went wrong; null when nothing did."""


class BulkJobData(TypedDict):
    """The data."""
    projectId: str
    """The project."""
    operation: Literal["subscribe", "unsubscribe", "delete", "add-to-segment", "undo"]
    """What the job does."""
    selector: Dict[str, Any]
    """Which contacts the job is for."""
    segmentId: NotRequired[str]
    """The segment of the audience type `SEGMENT`."""


class BulkSegmentSelection(TypedDict):
    mode: NotRequired[Literal["ids", "query"]]
    """Default: `"ids"`."""
    contactIds: NotRequired[List[str]]
    """The contacts."""
    filter: NotRequired[ContactFilter]
    """Which contacts: those that match."""
    excludeIds: NotRequired[List[str]]
    """Contacts to leave out."""
    segmentId: str
    """The segment of the audience type `SEGMENT`."""


class ContactFilter(TypedDict):
    search: NotRequired[str]
    """Text in the address, in any letter case."""
    subscribed: NotRequired[bool]
    """All when absent."""
    condition: NotRequired[Optional[Condition]]
    """The condition tree."""


class BulkSelection(TypedDict):
    mode: NotRequired[Literal["ids", "query"]]
    """Default: `"ids"`."""
    contactIds: NotRequired[List[str]]
    """The contacts."""
    filter: NotRequired[ContactFilter]
    """Which contacts: those that match."""
    excludeIds: NotRequired[List[str]]
    """Contacts to leave out."""


class CallMcpFailure(TypedDict):
    jsonrpc: Literal["2.0"]
    """The version of JSON-RPC."""
    error: CallMcpFailureError
    """What went wrong; null when nothing did."""


class CallMcpFailureError(TypedDict):
    """What went wrong; null when nothing did."""
    message: str
    """What happened, for people."""


class CallMcpResponse(TypedDict):
    jsonrpc: Literal["2.0"]
    """The version of JSON-RPC."""


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
        "totalRecipients": "float",
        "sentCount": "float",
        "deliveredCount": "float",
        "openedCount": "float",
        "clickedCount": "float",
        "bouncedCount": "float",
        "complainedCount": "float",
        "unsubscribedCount": "float",
        "archived": "bool",
        "pausedAt": "Optional[str]",
        "pauseReason": "Optional[str]",
        "resendOf": "Optional[str]",
        "correction": "Optional[EarlierRecipients]",
        "contentVersion": "float",
        "revision": "float",
        "projectId": "str",
        "sentAt": "Optional[str]",
        "createdAt": "str",
        "updatedAt": "str",
    },
)


class CampaignAudienceCount(TypedDict):
    recipients: float
    """Contacts the campaign would go to now."""
    unsubscribed: float
    """Contacts the audience chooses who are left out because they are unsubscribed."""


class CampaignAudit(TypedDict):
    recipients: float
    """The recipients."""
    handedOver: float
    """Recipients whose mail the provider accepted."""
    skipped: float
    """Recipients who were left out on purpose."""
    failed: float
    """How many failed."""
    unknown: float
    """Recipients whose mail may be with the provider, and is being looked up."""
    pending: float
    """How many are pending."""
    removed: float
    """How many were removed."""
    addsUp: bool
    """Whether everything is accounted for."""
    hash: Optional[str]
    """SHA-256 of the ledger in its CSV form; null before it is final."""
    hashFormat: float
    """Which columns the hashed file has: 2 since it ends with `version`, 1 without."""
    reasons: List[CampaignAuditReasonsItem]
    """The reasons, with counts where there are several."""


class CampaignAuditReasonsItem(TypedDict):
    reason: str
    """Why."""
    count: float
    """How many."""


class CampaignCorrection(TypedDict):
    versions: List[int]
    """The versions of the content whose recipients it goes to."""
    who: Literal["got", "opened", "clicked"]
    """All recipients of the versions, or only those who opened it or clicked a link."""


class CampaignDryRun(TypedDict):
    n: float
    """The number of the dry run."""
    state: Literal["RUNNING", "DONE", "FAILED"]
    """`RUNNING`, then `DONE` or `FAILED`."""
    failedReason: Optional[str]
    """Why it failed as a whole; null unless it did."""
    progress: float
    """How much is done, in percent."""
    sample: Union[Literal["all"], float]
    """How many messages were asked to be rendered."""
    rendered: float
    """Messages rendered so far. `missing` and `problems` count among these."""
    audience: float
    """Contacts of the audience that were passed so far."""
    wouldSend: float
    """Messages that would be sent."""
    leftOut: List[CampaignDryRunLeftOutItem]
    """Contacts of the audience who would get nothing, by reason."""
    missing: List[CampaignDryRunMissingItem]
    """Variables that messages print and contacts lack, the most frequent first."""
    problems: List[CampaignDryRunProblemsItem]
    """What is wrong with messages: `clipped` (Gmail cuts HTML above 102 KB), `empty link`, `http image`, `no text` (no text part) and `render` (could not be rendered, or only filled in plainly)."""
    byProvider: List[CampaignDryRunByProviderItem]
    """The domains that most of it would go to, twenty at most."""
    takes: float
    """Seconds that sending takes at least: by the project's rate, or as long as rendering took."""
    room: CampaignDryRunRoom
    """The monthly limit that the send counts against, and how much of it is left; null without one."""
    samples: List[CampaignDryRunSamplesItem]
    """Messages as ten contacts would get them, those with something to look at first; none once the campaign was changed."""
    fingerprint: Optional[str]
    """Names exactly this content, these settings and this audience; null until it is done."""
    changed: List[str]
    """Fields of content, audience and settings that have been changed since; empty while the review holds."""
    createdAt: str
    """When it was started."""
    finishedAt: Optional[str]
    """When it ended; null before."""
    expiresAt: str
    """Until when it can be launched."""


class CampaignDryRunLeftOutItem(TypedDict):
    reason: str
    """Why."""
    count: float
    """How many."""


class CampaignDryRunMissingItem(TypedDict):
    variable: str
    """The variable as the template names it."""
    contacts: float
    """The contacts."""
    examples: List[CampaignDryRunMissingItemExamplesItem]
    """Contacts to look at, three at most."""


class CampaignDryRunMissingItemExamplesItem(TypedDict):
    contactId: str
    """The contact."""
    email: str
    """The email address."""


class CampaignDryRunProblemsItem(TypedDict):
    kind: Literal["clipped", "empty link", "http image", "no text", "render"]
    """What kind it is."""
    count: float
    """How many."""
    example: Optional[CampaignDryRunProblemsItemExample]
    """A contact to look at; null for none that is left."""


class CampaignDryRunProblemsItemExample(TypedDict):
    contactId: str
    """The contact."""
    email: str
    """The email address."""


class CampaignDryRunByProviderItem(TypedDict):
    domain: str
    """The domain."""
    count: float
    """How many."""


class CampaignDryRunRoom(TypedDict):
    """The monthly limit that the send counts against, and how much of it is left; null without one."""
    limit: Optional[float]
    """The limit; null without one."""
    left: Optional[float]
    """How much is left; null without a limit."""


class CampaignDryRunSamplesItem(TypedDict):
    contactId: str
    """The contact."""
    email: str
    """The email address."""
    subject: str
    """The subject as this contact would get it."""
    html: str
    """The HTML as a recipient gets it."""
    text: Optional[str]
    """The text part; null without one."""


class CampaignPage(TypedDict):
    data: List[CampaignWithSegment]
    """The data."""
    page: float
    """The number of the page, from 1."""
    pageSize: float
    """How many items a page has."""
    total: float
    """How many there are."""
    totalPages: float
    """How many pages there are."""
    archivedCount: float
    """How many archived ones there are."""


class CampaignRecipientsPage(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: Union[List[CampaignRecipientsPageDataItem], List[CampaignRecipientsPageData2Item]]
    """The data."""
    cursor: NotRequired[str]
    """Pass it on to get the next page; null after the last one."""
    hasMore: bool
    """Whether there is another page."""
    total: Optional[float]
    """How many there are."""


class CampaignRecipientsPageDataItem(TypedDict):
    emailId: str
    """The email; null without one."""
    contactId: str
    """The contact."""
    email: str
    """The email address."""
    verdict: Literal["handed_over", "skipped", "failed", "unknown", "pending"]
    """What became of it: `handed_over`, `skipped`, `failed`, `unknown` or `pending`."""
    reason: Optional[str]
    """Why."""
    version: Optional[float]
    """The version of the content that was handed over; null where nothing was."""
    messageId: Optional[str]
    """The ID of the message at the provider."""
    sentAt: Optional[str]
    """When it was sent; null before."""
    occurredAt: str
    """When it happened."""


class CampaignRecipientsPageData2Item(TypedDict):
    emailId: str
    """The email; null without one."""
    contactId: str
    """The contact."""
    email: str
    """The email address."""
    occurredAt: str
    """When it happened."""


class CampaignResults(TypedDict):
    hours: List[CampaignResultsHoursItem]
    """Hours (UTC) in which anything happened, the first one first; a recipient counts once in each column."""
    links: List[CampaignResultsLinksItem]
    """Links that were clicked, the most clicked first; an empty `link` stands for those beyond the first 200."""
    earlier: List[CampaignResultsEarlierItem]
    """The five campaigns that were sent before this one, the latest first."""


class CampaignResultsHoursItem(TypedDict):
    hour: str
    """When the hour begins."""
    sent: float
    """How many were sent."""
    delivered: float
    """What was delivered."""
    opened: float
    """How many recipients opened."""
    clicked: float
    """How many recipients clicked."""
    bounced: float
    """How many bounced."""


class CampaignResultsLinksItem(TypedDict):
    link: str
    """The address of the link."""
    clicks: float
    """How often links were clicked."""
    recipients: float
    """Recipients who clicked the link."""


class CampaignResultsEarlierItem(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""
    sentAt: str
    """When it was sent; null before."""
    sentCount: float
    """Mail that was sent."""
    deliveryRate: float
    """Delivered mail, in percent."""
    openRate: float
    """Opened mail, in percent."""
    clickRate: float
    """Clicked mail, in percent."""
    bounceRate: float
    """Permanent bounces, in percent."""
    unsubscribeRate: float
    """Unsubscribed recipients, in percent."""


class CampaignStats(TypedDict):
    totalRecipients: float
    """How many contacts the audience has."""
    sentCount: float
    """Mail that was sent."""
    deliveredCount: float
    """Mail that was delivered."""
    openedCount: float
    """Mail that was opened."""
    clickedCount: float
    """Mail in which a link was clicked."""
    bouncedCount: float
    """Mail that bounced permanently."""
    complainedCount: float
    """Mail that was reported as spam."""
    unsubscribedCount: float
    """Recipients who unsubscribed by a link or button of this mail."""
    skippedCount: float
    """Recipients who were left out on purpose."""
    failedCount: float
    """Mail that failed."""
    pendingCount: float
    """Mail that is not sent yet."""
    openRate: float
    """Opened mail, in percent."""
    clickRate: float
    """Clicked mail, in percent."""
    bounceRate: float
    """Permanent bounces, in percent."""
    deliveryRate: float
    """Delivered mail, in percent."""
    complaintRate: float
    """Spam reports, in percent."""
    unsubscribeRate: float
    """Unsubscribed recipients, in percent."""
    pausedAt: Optional[str]
    """When it was paused; null while it is not."""
    held: Optional[str]
    """Why it is on hold, and until when; null while it is not."""
    versions: List[SentVersion]
    """The versions of the content that the current send has handed over, the first one first."""


class SentVersion(TypedDict):
    version: float
    """The number of the version."""
    subject: str
    """The subject, with Liquid variables."""
    sentCount: float
    """How many recipients got this version."""
    replacedAt: Optional[str]
    """When a revision replaced it; null for the current one."""


class CanaryOptions(TypedDict):
    recipients: int
    """The recipients."""
    hold: NotRequired[str]
    """Default: `"60m"`."""
    stopIf: NotRequired[CanaryOptionsStopIf]
    """Default: `{"bounceRate":3,"complaintRate":0.1,"unsubscribeRate":2}`."""
    minDelivered: NotRequired[int]
    """The campaign is paused at the end of the hold with fewer delivered messages than this; 30% of the slice, at least 1, when absent."""


class CanaryOptionsStopIf(TypedDict):
    """Default: `{"bounceRate":3,"complaintRate":0.1,"unsubscribeRate":2}`."""
    bounceRate: NotRequired[Optional[float]]
    """Permanent bounces, in percent."""
    complaintRate: NotRequired[Optional[float]]
    """Spam reports, in percent."""
    unsubscribeRate: NotRequired[Optional[float]]
    """Unsubscribed recipients, in percent."""


class CancelCampaignResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: Campaign
    """The data."""
    revertPending: bool
    """Whether the campaign becomes a draft again because nothing was sent."""
    message: str
    """What happened, for people."""


class CancelWorkflowExecutionsResponse(TypedDict):
    cancelled: float
    """How many were cancelled."""


class ComputeSegmentResponse(TypedDict):
    added: float
    """How many were added."""
    removed: float
    """How many were removed."""
    total: float
    """How many there are."""


class Contact(TypedDict):
    id: str
    """Unique ID."""
    email: str
    """The email address."""
    subscribed: bool
    """Whether the contact gets marketing mail."""
    data: Dict[str, Any]
    """Free-form data of the contact."""
    dataOmitted: NotRequired[bool]
    """The data is too large for this answer: `data` is empty here."""
    projectId: str
    """The project."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""


class ContactChange(TypedDict):
    at: str
    """When it happened."""
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
    """Whether the contact gets marketing mail."""
    email: Optional[ContactChangeEmail]
    """The email address."""


class ContactChangeCause(TypedDict):
    """What made the change."""
    type: Literal["contact", "field", "segment", "track", "send", "smtp", "inbound", "report", "page", "step", "import", "bulk", "undo", "unknown"]
    """The type."""
    id: Optional[str]
    """Of the job, of the workflow, of the segment it was added to, or of the mail that led to the change."""
    by: Optional[ContactChangeCauseBy]
    """Who asked for it: a member by address, a key with scopes by name, or the secret key of the project."""


class ContactChangeCauseBy(TypedDict):
    kind: Literal["user", "key", "mcp"]
    """What kind it is."""
    id: Optional[str]
    """Unique ID."""
    name: Optional[str]
    """The name."""


class ContactChangeSubscribed(TypedDict):
    before: Optional[bool]
    """What differs, as it was before the change."""
    after: bool
    """What differs, as it is since the change."""


class ContactChangeEmail(TypedDict):
    before: str
    """What differs, as it was before the change."""
    after: str
    """What differs, as it is since the change."""


class ContactExport(TypedDict):
    format: Literal["fernpost-contact/1"]
    """`csv` answers a file."""
    exportedAt: str
    """When the file was made."""
    contact: Contact
    """The contact."""
    segments: List[Dict[str, Any]]
    """Segments it was added to, or has entered."""
    emails: List[Dict[str, Any]]
    """Mail to it and from it, with tags and what is stored of the content."""
    events: List[Dict[str, Any]]
    """What it did, and what became of its mail."""
    history: List[Dict[str, Any]]
    """Changes of the contact with their causes."""
    workflowExecutions: List[Dict[str, Any]]
    """Executions of workflows with their steps."""
    imports: List[Dict[str, Any]]
    """Imports and bulk changes that changed it."""


class ContactHistory(TypedDict):
    data: List[ContactChange]
    """The data."""
    cursor: Optional[str]
    """Pass it on to get the next page; null after the last one."""


class ContactJob(TypedDict):
    id: str
    """Unique ID."""
    kind: Literal["import", "bulk"]
    """`import`, or `bulk` for every other change of many contacts."""
    operation: Literal["import", "subscribe", "unsubscribe", "delete", "add-to-segment", "undo"]
    """What it does to contacts."""
    state: Literal["waiting", "active", "delayed", "completed", "failed"]
    """The state of the job."""
    progress: float
    """How much is done, in percent."""
    filename: Optional[str]
    """Of an import."""
    counts: ContactJobCounts
    """Rows or contacts so far, by what became of them."""
    failedReason: Optional[str]
    """Why it failed as a whole; null unless it did."""
    by: Optional[ContactJobBy]
    """Who asked for it: a member by address, a key with scopes by name, or the secret key of the project."""
    createdAt: str
    """When it was created."""
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
    total: float
    """How many there are."""
    created: float
    """How many were created."""
    updated: float
    """How many were changed."""
    unchanged: float
    """Contacts that already were."""
    failed: float
    """How many failed."""


class ContactJobBy(TypedDict):
    kind: Literal["user", "key", "mcp"]
    """What kind it is."""
    id: Optional[str]
    """Unique ID."""
    name: Optional[str]
    """The name."""


class ContactJobPage(TypedDict):
    data: List[ContactJob]
    """The data."""
    cursor: Optional[str]
    """Pass it on to get the next page; null after the last one."""


class ContactPage(TypedDict):
    data: List[Contact]
    """The data."""
    cursor: Optional[str]
    """Pass it on to get the next page; null after the last one."""
    hasMore: bool
    """Whether there is another page."""
    total: float
    """How many there are."""


class ContactView(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""
    filter: ContactViewFilter
    """Which contacts: those that match."""
    sort: Literal["email", "createdAt", "updatedAt"]
    """What the list is sorted by."""
    dir: Literal["asc", "desc"]
    """Direction of the sort."""
    columns: Optional[List[str]]
    """Columns of the list in their order, or null."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""


class ContactViewFilter(TypedDict):
    """Which contacts: those that match."""
    search: NotRequired[str]
    """Text in the address."""
    subscribed: NotRequired[bool]
    """Whether the contact gets marketing mail."""
    condition: NotRequired[Optional[Condition]]
    """The condition tree."""


class ContactViewList(TypedDict):
    data: List[ContactView]
    """The data."""


class ContentVersion(TypedDict):
    version: float
    """The number of the version."""
    createdAt: str
    """When it was created."""
    author: Optional[ContentVersionAuthor]
    """Who made it; null when nobody is known."""
    restoredFrom: Optional[float]
    """The version it was restored from; null for others."""
    name: str
    """The name."""
    subject: str
    """The subject, with Liquid variables."""


class ContentVersionAuthor(TypedDict):
    kind: Literal["user", "key", "mcp", "system"]
    """What kind it is."""
    id: Optional[str]
    """Unique ID."""
    name: Optional[str]
    """The name."""


class ContentVersionList(TypedDict):
    data: List[ContentVersion]
    """The data."""


ContentVersionWithContent = TypedDict(
    "ContentVersionWithContent",
    {
        "version": "float",
        "createdAt": "str",
        "author": "Optional[ContentVersionWithContentAuthor]",
        "restoredFrom": "Optional[float]",
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
    """What kind it is."""
    id: Optional[str]
    """Unique ID."""
    name: Optional[str]
    """The name."""


class ContinueCampaignFromCanaryResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: CampaignWithSegment
    """The data."""
    message: str
    """What happened, for people."""


class CountCampaignAudienceRequest(TypedDict):
    type: NotRequired[Literal["TRANSACTIONAL", "MARKETING", "HEADLESS"]]
    """Default: `"MARKETING"`."""
    audienceType: Literal["ALL", "SEGMENT", "FILTERED"]
    """Who gets it: `ALL`, `SEGMENT` or `FILTERED`."""
    audienceCondition: NotRequired[Optional[Dict[str, Any]]]
    """The condition of the audience type `FILTERED`."""
    segmentId: NotRequired[Optional[str]]
    """The segment of the audience type `SEGMENT`."""


class CountCampaignAudienceResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: CampaignAudienceCount
    """The data."""


class CountCampaignCorrectionResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: CampaignAudienceCount
    """The data."""


class CountCampaignFollowUpRequest(TypedDict):
    who: Literal["got", "opened", "clicked", "not_opened", "not_clicked"]
    """All recipients of the campaign, or only those who opened it, clicked a link, or did neither of these. Bounced emails count for `got` only."""


class CountCampaignFollowUpResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: CampaignAudienceCount
    """The data."""


class CountRecentActivityResponse(TypedDict):
    count: float
    """How many."""
    minutes: float
    """The length of the window."""


class CountWorkflowContactsResponse(TypedDict):
    active: float
    """How many are inside or under way."""
    arriving: float
    """Contacts who are about to enter."""
    steps: List[CountWorkflowContactsResponseStepsItem]
    """The steps, or how many there are."""


class CountWorkflowContactsResponseStepsItem(TypedDict):
    stepId: Optional[str]
    """The step."""
    name: Optional[str]
    """The name."""
    type: Optional[Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "CONDITION", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]]
    """The type."""
    running: float
    """Contacts whose step runs now."""
    waiting: float
    """Contacts who wait at the step."""
    reached: float
    """How often the step was reached, in the time that `days` says."""
    dropped: float
    """How many of those took no path: the step failed, or they were canceled or migrated away."""
    branches: List[CountWorkflowContactsResponseStepsItemBranchesItem]
    """The paths out of the step."""


class CountWorkflowContactsResponseStepsItemBranchesItem(TypedDict):
    branch: str
    """The branch of a condition that this path is for; null for plain steps."""
    count: float
    """How many."""


class CreateCampaignCorrectionRequest(TypedDict):
    versions: List[int]
    """The versions of the content whose recipients it goes to."""
    who: Literal["got", "opened", "clicked"]
    """All recipients of the versions, or only those who opened it or clicked a link."""
    subject: str
    """The subject, with Liquid variables."""
    body: NotRequired[str]
    """The HTML, with Liquid variables."""
    document: NotRequired[Optional[Dict[str, Any]]]
    """The blocks to compile the body from, in place of `body`; see the guide. Null keeps the HTML alone."""


class CreateCampaignCorrectionResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: Campaign
    """The data."""


class CreateCampaignFollowUpRequest(TypedDict):
    who: Literal["got", "opened", "clicked", "not_opened", "not_clicked"]
    """All recipients of the campaign, or only those who opened it, clicked a link, or did neither of these. Bounced emails count for `got` only."""
    subject: NotRequired[str]
    """The subject, with Liquid variables."""


class CreateCampaignFollowUpResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: Campaign
    """The data."""


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


class CreateCampaignResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: Campaign
    """The data."""


class CreateContactViewRequest(TypedDict):
    name: str
    """The name."""
    filter: NotRequired[ContactFilter]
    """Default: `{}`."""
    sort: NotRequired[Literal["email", "createdAt", "updatedAt"]]
    """What to sort by."""
    dir: NotRequired[Literal["asc", "desc"]]
    """Direction of the sort."""
    columns: NotRequired[Optional[List[str]]]
    """Columns of the list in their order; null keeps each person’s own choice."""


class CreateSavedBlockRequest(TypedDict):
    name: str
    """The name."""
    content: List[Dict[str, Any]]
    """The content."""


class CreateSegmentRequest(TypedDict):
    name: str
    """The name."""
    description: NotRequired[Optional[str]]
    """What it is for, in the words of its author."""
    type: NotRequired[Literal["DYNAMIC", "STATIC"]]
    """Default: `"DYNAMIC"`."""
    condition: NotRequired[Optional[Condition]]
    """The condition tree."""
    trackMembership: NotRequired[bool]
    """Default: `false`."""


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
    """The name."""
    eventName: NotRequired[Optional[str]]
    """The name of the event."""
    triggerType: NotRequired[Literal["EVENT", "MANUAL", "SCHEDULE"]]
    """Default: `"EVENT"`."""
    triggerConfig: NotRequired[Optional[Dict[str, Any]]]
    """What starts it: the event, or the schedule with its audience."""
    description: NotRequired[Optional[str]]
    """What it is for, in the words of its author."""
    allowReentry: NotRequired[bool]
    """Default: `false`."""


class CreateWorkflowStepRequest(TypedDict):
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "CONDITION", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """The type."""
    name: str
    """The name."""
    position: CreateWorkflowStepRequestPosition
    """Where the step stands on the canvas."""
    config: Dict[str, Any]
    """What the step does; which fields there are depends on its type."""
    templateId: NotRequired[Optional[str]]
    """The template; null without one."""
    note: NotRequired[Optional[str]]
    """For the people who edit the workflow; null or empty removes it."""
    autoConnect: NotRequired[bool]
    """Default: `true`."""


class CreateWorkflowStepRequestPosition(TypedDict):
    """Where the step stands on the canvas."""
    x: float
    """Pixels from the left."""
    y: float
    """Pixels from the top."""


class CreateWorkflowTransitionRequest(TypedDict):
    fromStepId: str
    """The step that the path leaves."""
    toStepId: str
    """The step that it leads to."""
    condition: NotRequired[Optional[CreateWorkflowTransitionRequestCondition]]
    """The condition tree."""
    branch: NotRequired[Optional[str]]
    """The branch of a condition that this path is for; null for plain steps."""
    waitOutcome: NotRequired[Optional[Literal["EVENT", "TIMEOUT"]]]
    """Which end of a wait the path is for: `EVENT` or `TIMEOUT`; null for both."""
    priority: NotRequired[int]
    """Default: `0`."""


class CreateWorkflowTransitionRequestCondition(TypedDict):
    branch: NotRequired[Optional[str]]
    """The branch of a condition that this path is for; null for plain steps."""


class DelayStepConfig(TypedDict):
    amount: float
    """How many units."""
    unit: Literal["minutes", "hours", "days"]
    """The unit of time."""


class DeleteCampaignResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    message: str
    """What happened, for people."""


class DeleteContactFieldResponse(TypedDict):
    deletedFrom: float
    """How many contacts had it."""


class DeleteDomainResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""


class DeleteEventsResponse(TypedDict):
    deletedCount: float
    """How many were deleted."""


class DeleteProjectResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    message: str
    """What happened, for people."""


class DeleteTemplatesRequest(TypedDict):
    ids: List[str]
    """The IDs."""
    delete: NotRequired[bool]
    """Delete them."""


DeleteTemplatesResponse: TypeAlias = "Union[DeleteTemplatesResponseValue, DeleteTemplatesResponseValue2]"


class DeleteTemplatesResponseValue(TypedDict):
    deleted: float
    """How many were deleted."""


class DeleteTemplatesResponseValue2(TypedDict):
    updated: float
    """How many were changed."""


class DeleteWorkflowsRequest(TypedDict):
    ids: List[str]
    """The IDs."""
    delete: NotRequired[bool]
    """Delete them."""


DeleteWorkflowsResponse: TypeAlias = "Union[DeleteWorkflowsResponseValue, DeleteWorkflowsResponseValue2]"


class DeleteWorkflowsResponseValue(TypedDict):
    deleted: float
    """How many were deleted."""


class DeleteWorkflowsResponseValue2(TypedDict):
    updated: float
    """How many were changed."""


class Deliverability(TypedDict):
    days: List[DeliverabilityDaysItem]
    """Oldest first, including days without emails."""
    limits: List[DeliverabilityLimitsItem]
    """Every limit, with the project’s current value."""
    pauses: bool
    """Whether a critical limit pauses a project (AUTO_PROJECT_DISABLE)."""
    isPaused: bool
    """Whether the project is disabled now."""
    domains: List[DeliverabilityDomainsItem]
    """By domain of the recipients: the 50 with the most complaints and bounces, then with the most mail."""
    providers: List[DeliverabilityProvidersItem]
    """By mailbox provider of the recipients, as their domain tells it."""
    countedSince: Optional[str]
    """`domains` and `providers` count the latest 50,000 emails of the span; null when that is all of it."""


class DeliverabilityDaysItem(TypedDict):
    date: str
    """Of the day (UTC): `2026-03-01`."""
    sent: float
    """Emails sent, without those to simulators."""
    bounces: float
    """Of these, returned for good."""
    complaints: float
    """Of these, reported as spam."""


class DeliverabilityLimitsItem(TypedDict):
    of: Literal["bounces", "complaints"]
    """What is limited."""
    window: Literal["twentyFourHour", "sevenDay", "allTime"]
    """Which mail counts."""
    unit: Literal["percent", "emails"]
    """What the value is in."""
    value: float
    """What the field is compared with."""
    warning: DeliverabilityLimitsItemWarning
    """Warns from this value on."""
    critical: DeliverabilityLimitsItemCritical
    """Pauses the project where `pauses` is true."""
    level: Literal["healthy", "warning", "critical"]
    """Which bound the value has reached."""
    applies: bool
    """Rates apply from 100 emails on, numbers to projects younger than 30 days."""


class DeliverabilityLimitsItemWarning(TypedDict):
    """Warns from this value on."""
    rate: float
    """In percent; 0 for a limit of a number."""
    count: float
    """At least this many bounces or complaints."""


class DeliverabilityLimitsItemCritical(TypedDict):
    """Pauses the project where `pauses` is true."""
    rate: float
    """In percent; 0 for a limit of a number."""
    count: float
    """At least this many bounces or complaints."""


class DeliverabilityDomainsItem(TypedDict):
    domain: str
    """The domain."""
    sent: float
    """Emails sent, without those to simulators."""
    bounces: float
    """Of these, returned for good."""
    complaints: float
    """Of these, reported as spam."""


class DeliverabilityProvidersItem(TypedDict):
    provider: str
    """Such as `Google`, or `Other`."""
    sent: float
    """Emails sent, without those to simulators."""
    bounces: float
    """Of these, returned for good."""
    complaints: float
    """Of these, reported as spam."""


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
    """The type."""
    name: str
    """The name."""
    value: str
    """What the field is compared with."""
    priority: Optional[float]
    """The order among several."""
    required: bool
    """Whether the domain needs it."""
    status: Literal["pending", "verified", "failed"]
    """The status."""
    finding: Optional[str]
    """What is wrong with the record, in words; null when nothing is."""


class Domain(TypedDict):
    id: str
    """Unique ID."""
    domain: str
    """The domain."""
    verified: bool
    """Whether mail can be sent from the domain."""
    approved: bool
    """Whether it may send once it is verified; false while it waits for the operator of the service."""
    status: Literal["NotStarted", "Pending", "Success", "Failed", "TemporaryFailure"]
    """The status."""
    dkimTokens: List[str]
    """The selectors of the DKIM records."""
    records: List[DnsRecord]
    """The records."""
    projectId: str
    """The project."""
    project: NotRequired[DomainProject]
    """The project."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""


class DomainProject(TypedDict):
    """The project."""
    name: str
    """The name."""


class DomainCheck(TypedDict):
    domain: str
    """The domain."""
    status: Literal["NotStarted", "Pending", "Success", "Failed", "TemporaryFailure"]
    """The status."""
    verified: bool
    """Whether mail can be sent from the domain."""
    records: List[DnsRecord]
    """The records."""
    tokens: List[str]
    """The selectors of the DKIM records."""


class DuplicateCampaignResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: Campaign
    """The data."""
    message: str
    """What happened, for people."""


class EditedByKey(TypedDict):
    kind: Literal["key"]
    """What kind it is."""


class EditedByUser(TypedDict):
    kind: Literal["user"]
    """What kind it is."""
    id: str
    """Unique ID."""
    email: str
    """The email address."""


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
        "errorCode": "Optional[Literal['project_disabled', 'domain_unverified', 'limit_reached', 'not_subscribed', 'unsubscribed', 'campaign_cancelled', 'left_audience', 'left_out_at_review', 'cancelled', 'not_rendered', 'refused', 'submission_unknown', 'too_old', 'too_many_attempts', 'provider']]",
        "opens": "float",
        "clicks": "float",
        "scheduledFor": "Optional[str]",
        "heldUntil": "Optional[str]",
        "createdAt": "str",
        "sentAt": "Optional[str]",
        "fromName": "Optional[str]",
        "replyTo": "Optional[str]",
        "headers": "Optional[Dict[str, str]]",
        "messageId": "Optional[str]",
        "provider": "Optional[str]",
        "attempts": "Optional[float]",
        "lastRefusal": "Optional[str]",
        "suppression": "Optional[Dict[str, Any]]",
        "deliveredAt": "Optional[str]",
        "openedAt": "Optional[str]",
        "clickedAt": "Optional[str]",
        "bouncedAt": "Optional[str]",
        "complainedAt": "Optional[str]",
        "tags": "Dict[str, str]",
        "campaignVersion": "Optional[float]",
        "resendOf": "Optional[str]",
        "resends": "List[str]",
        "timeline": "List[EmailTimelineItem]",
        "body": "NotRequired[Optional[str]]",
        "text": "NotRequired[Optional[str]]",
    },
)


class EmailContact(TypedDict):
    """The contact."""
    id: str
    """Unique ID."""
    email: str
    """The email address."""


class EmailSender(TypedDict):
    email: str
    """The email address."""
    name: Optional[str]
    """The name."""


class EmailTimelineItem(TypedDict):
    at: str
    """When it happened."""
    type: str
    """`accepted`, `sent`, `delivery`, `open`, `click`, `bounce`, `complaint`, `failed`, `suppressed` or `cancelled`."""
    detail: Optional[Dict[str, Any]]
    """Details of the event, such as the link of a click."""


class EmailPage(TypedDict):
    data: List[EmailSummary]
    """The data."""
    cursor: Optional[str]
    """Pass it on to get the next page; null after the last one."""
    hasMore: bool
    """Whether there is another page. A page may be short or empty although there is one: continue with `cursor`."""
    lookedBackTo: Optional[str]
    """How far back this page has searched, if there is another; null otherwise, and for `scheduled`."""


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
        "errorCode": "Optional[Literal['project_disabled', 'domain_unverified', 'limit_reached', 'not_subscribed', 'unsubscribed', 'campaign_cancelled', 'left_audience', 'left_out_at_review', 'cancelled', 'not_rendered', 'refused', 'submission_unknown', 'too_old', 'too_many_attempts', 'provider']]",
        "opens": "float",
        "clicks": "float",
        "scheduledFor": "Optional[str]",
        "heldUntil": "Optional[str]",
        "createdAt": "str",
        "sentAt": "Optional[str]",
    },
)


class EmailSummaryContact(TypedDict):
    """The contact."""
    id: str
    """Unique ID."""
    email: str
    """The email address."""


class EmailSummarySender(TypedDict):
    email: str
    """The email address."""
    name: Optional[str]
    """The name."""


class EraseContactRequest(TypedDict):
    reference: NotRequired[Optional[str]]
    """Why, for your own records, such as a ticket number. It is kept and signed, so leave personal data out."""
    keepSuppressed: NotRequired[bool]
    """Whether requests may never store the address or send to it again. Imports never bring it back either way."""


class Erasure(TypedDict):
    id: str
    """Unique ID."""
    contactId: str
    """The contact."""
    subject: str
    """HMAC-SHA-256 of the address, by a key of the project."""
    reference: Optional[str]
    """The reference of the request."""
    keepSuppressed: bool
    """Whether requests were to refuse the address."""
    suppressed: bool
    """Whether they refuse it now: an owner may have lifted that."""
    status: Literal["RUNNING", "WAITING", "DONE"]
    """`WAITING`: nothing is left here, but another system still keeps something. `DONE`: the certificate is final."""
    requestedAt: str
    """When it was asked for."""
    erasedAt: Optional[str]
    """When nothing was left here."""
    steps: List[ErasureStepsItem]
    """The steps, or how many there are."""
    ledgersChanged: List[ErasureLedgersChangedItem]
    """Final ledgers of campaigns whose hash the erasure changed."""
    mentions: List[ErasureMentionsItem]
    """What members wrote, and data of other contacts, that names the address. It was not changed: edit it yourself."""
    certificate: Optional[ErasureCertificate]
    """Null until nothing is left here."""


class ErasureStepsItem(TypedDict):
    system: str
    """Where: Postgres, the mail sandbox, the mail provider, backups or Temporal."""
    what: str
    """What was emptied, deleted or is waited for."""
    rows: Optional[float]
    """How many rows or messages; null where they can’t be counted."""
    state: Literal["running", "done", "waiting"]
    """`waiting`: another system still keeps it, until the instant in `until`."""
    at: Optional[str]
    """When it was done."""
    until: Optional[str]
    """Until when it is waited for."""


class ErasureLedgersChangedItem(TypedDict):
    campaignId: str
    """The campaign it belongs to; null without one."""
    sendSeq: float
    """Counts the sends of the campaign."""
    hashBefore: str
    """SHA-256 of the CSV file of the ledger before the erasure, in hex."""
    hashAfter: str
    """The same afterwards."""


class ErasureMentionsItem(TypedDict):
    type: str
    """What names the address: a template, a campaign, another contact and so on."""
    count: float
    """How many of them."""
    ids: List[str]
    """Their IDs, 20 at most."""


class ErasureCertificate(TypedDict):
    json: str
    """The text that was signed. Verify it as it is, byte for byte."""
    signature: str
    """Ed25519 signature of the text, in base64."""
    publicKey: str
    """What verifies it: PEM. It is the same for every erasure of the project."""


class ErasurePage(TypedDict):
    data: List[Erasure]
    """The data."""
    cursor: Optional[str]
    """Pass it on to get the next page; null after the last one."""


class ErasureVerification(TypedDict):
    valid: bool
    """The certificate is what was signed, by the key of the project, and nothing is left."""
    signed: bool
    """The signature belongs to the text."""
    keyOfProject: bool
    """The key is that of the project."""
    left: List[ErasureVerificationLeftItem]
    """What is found now under the ID of the contact; empty when nothing is."""


class ErasureVerificationLeftItem(TypedDict):
    what: str
    """What it is."""
    rows: float
    """How many rows."""


class Error(TypedDict):
    success: Literal[False]
    """Always `true`; failures have the form `Error`."""
    error: ErrorError
    """What went wrong."""
    timestamp: str
    """When it was answered."""


class ErrorError(TypedDict):
    """What went wrong."""
    code: str
    """What went wrong, as a code for programs."""
    message: str
    """What went wrong, as a sentence for people."""
    statusCode: int
    """The HTTP status."""
    requestId: str
    """The `X-Request-ID` of the answer; name it when you ask for help."""
    details: NotRequired[Dict[str, Any]]
    """Facts about the failure, for programs."""
    errors: NotRequired[List[FieldProblem]]
    """Each field that was refused."""
    suggestion: NotRequired[str]
    """What to do about it."""


class FieldProblem(TypedDict):
    field: str
    """The field."""
    message: str
    """What happened, for people."""
    code: str
    """What is wrong, for programs."""
    received: NotRequired[str]
    """What was received instead."""


class Event(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""
    data: Optional[Dict[str, Any]]
    """The data."""
    dataOmitted: NotRequired[bool]
    """The data is too large for this answer: `data` is null here."""
    projectId: str
    """The project."""
    contactId: Optional[str]
    """The contact."""
    emailId: Optional[str]
    """The email; null without one."""
    createdAt: str
    """When it was created."""


EventToRecord: TypeAlias = "Union[RecordedEvent, TrackEventRequest]"


class RecordedEvent(TypedDict):
    name: str
    """The name."""
    contactId: NotRequired[Optional[str]]
    """The contact."""
    emailId: NotRequired[Optional[str]]
    """The email; null without one."""
    data: NotRequired[Optional[Dict[str, Any]]]
    """The data."""


class TrackEventRequest(TypedDict):
    email: str
    """The email address."""
    event: str
    """The name of the event."""
    subscribed: NotRequired[bool]
    """Whether the contact gets marketing mail."""
    data: NotRequired[Optional[Dict[str, Any]]]
    """Data of the event, stored on the contact too."""


class EventUsage(TypedDict):
    usedInSegments: List[EventUsageUsedInSegmentsItem]
    """Segments that use it."""
    usedInWorkflows: List[EventUsageUsedInWorkflowsItem]
    """Workflows that use it."""
    totalCount: float
    """How often it happened."""
    uniqueContacts: float
    """How many contacts it concerns."""
    canDelete: bool
    """Whether nothing uses it, so that it can be deleted."""


class EventUsageUsedInSegmentsItem(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""


class EventUsageUsedInWorkflowsItem(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""


class ExitStepConfig(TypedDict):
    reason: NotRequired[Optional[str]]
    """Why."""


class ExplainRequest(TypedDict):
    contact: str
    """Id or address of the contact."""
    about: Union[ExplainRequestAbout, ExplainRequestAbout2, ExplainRequestAbout3, ExplainRequestAbout4]
    """A campaign, a workflow, a mail, or with `topic` the latest mail and whatever keeps mail from it."""
    at: NotRequired[str]
    """When it happened."""


class ExplainRequestAbout(TypedDict):
    campaignId: str
    """The campaign it belongs to; null without one."""


class ExplainRequestAbout2(TypedDict):
    workflowId: str
    """The workflow."""


class ExplainRequestAbout3(TypedDict):
    emailId: str
    """The email; null without one."""


class ExplainRequestAbout4(TypedDict):
    topic: Literal["any"]
    """`any`: everything that concerns the contact."""


class Explanation(TypedDict):
    verdict: Literal["received", "sent", "will", "did_not", "will_not", "cannot_tell"]
    """Whether the contact got it, will get it, or not."""
    sentence: str
    """The same in words."""
    contact: ExplanationContact
    """The contact."""
    decisions: List[ExplanationDecision]
    """In the order in which they are made. The first `stop` is the reason."""
    next: Optional[ExplanationNext]
    """What happens next; null when nothing."""
    fixes: List[ExplanationFixesItem]
    """Requests that would change the outcome."""
    permalink: str
    """For `GET /explain/{permalink}`: the same question again."""


class ExplanationContact(TypedDict):
    """The contact."""
    id: str
    """Unique ID."""
    email: str
    """The email address."""


class ExplanationDecision(TypedDict):
    at: Optional[str]
    """When it happened."""
    check: str
    """What was checked, such as `contact.existed` or `mail.suppressed`."""
    outcome: Literal["pass", "stop", "info"]
    """`pass`, `stop` or `info`."""
    sentence: str
    """The same in words."""
    expected: Any
    """The value that was needed."""
    actual: Any
    """The value that was found."""
    basis: Literal["recorded", "evaluated"]
    """`recorded` when it happened, or `evaluated` for this answer."""
    dataAsOf: Optional[str]
    """The age of the values that were evaluated."""
    source: Optional[ExplanationDecisionSource]
    """Where the value is from; null when it has no page."""


class ExplanationDecisionSource(TypedDict):
    type: str
    """The type."""
    id: str
    """Unique ID."""
    href: str
    """Address of its page."""


class ExplanationNext(TypedDict):
    at: Optional[str]
    """When it happened."""
    what: str
    """What happens, in words."""


class ExplanationFixesItem(TypedDict):
    sentence: str
    """The same in words."""
    method: Literal["POST", "PATCH", "PUT"]
    """The method of the request."""
    path: str
    """The path of the request."""
    body: Dict[str, Any]
    """The body of the request."""


class ExportContactsRequest(TypedDict):
    filter: NotRequired[ContactFilter]
    """Which contacts: those that match."""
    contactIds: NotRequired[List[str]]
    """Only these contacts, of those that the filter leaves."""
    excludeIds: NotRequired[List[str]]
    """Contacts to leave out."""
    columns: NotRequired[List[str]]
    """`email`, `subscribed`, `createdAt`, `updatedAt`, `id` or `data.<key>`, in the order of the file."""


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


class GetActivityStatsResponse(TypedDict):
    totalEvents: float
    """Events that happened."""
    totalEmailsSent: float
    """Emails that were sent."""
    totalEmailsHandedOver: float
    """Of these, given to the mail provider or received: without mail that waits, and without recipients of campaigns who were skipped or failed."""
    totalEmailsDelivered: float
    """Of these, accepted by the recipient’s server."""
    totalEmailsOpened: float
    """Emails that were opened."""
    totalEmailsClicked: float
    """Emails in which a link was clicked."""
    totalEmailsBounced: float
    """Of these, returned for good."""
    totalWorkflowsStarted: float
    """Workflows that contacts entered."""
    openRate: float
    """Opened mail, in percent."""
    clickRate: float
    """Clicked mail, in percent."""


class GetCampaignAuditResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: CampaignAudit
    """The data."""


class GetCampaignAveragesResponse(TypedDict):
    total: float
    """How many there are."""
    active: float
    """How many are inside or under way."""
    completed: float
    """How many are complete."""
    averageOpenRate: float
    """Share of mail that was opened, with its change."""
    averageClickRate: float
    """Share of mail that was clicked, with its change."""


class GetCampaignDryRunResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: CampaignDryRun
    """The data."""


class GetCampaignResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: CampaignWithSegment
    """The data."""


class GetCampaignStatsResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: CampaignStats
    """The data."""


class GetCampaignVersionResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: ContentVersionWithContent
    """The data."""


class GetContactFieldUsageResponse(TypedDict):
    usedInSegments: List[GetContactFieldUsageResponseUsedInSegmentsItem]
    """Segments that use it."""
    usedInCampaigns: List[GetContactFieldUsageResponseUsedInCampaignsItem]
    """Campaigns that use it."""
    usedInWorkflows: List[GetContactFieldUsageResponseUsedInWorkflowsItem]
    """Workflows that use it."""
    contactCount: float
    """How many contacts have it."""
    canDelete: bool
    """Whether nothing uses it, so that it can be deleted."""


class GetContactFieldUsageResponseUsedInSegmentsItem(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""


class GetContactFieldUsageResponseUsedInCampaignsItem(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""


class GetContactFieldUsageResponseUsedInWorkflowsItem(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""


class GetImageUsageResponse(TypedDict):
    templates: List[GetImageUsageResponseTemplatesItem]
    """The templates."""
    campaigns: List[GetImageUsageResponseCampaignsItem]
    """Campaigns, or what concerns them."""
    searchedCampaigns: float
    """How many campaigns were searched."""


class GetImageUsageResponseTemplatesItem(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""


class GetImageUsageResponseCampaignsItem(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""
    status: str
    """The status."""


class GetProjectAuditLogResponse(TypedDict):
    data: List[GetProjectAuditLogResponseDataItem]
    """The data."""
    cursor: Optional[str]
    """Pass it on to get the next page; null after the last one."""


class GetProjectAuditLogResponseDataItem(TypedDict):
    id: str
    """Unique ID."""
    position: float
    """Where it stands."""
    at: str
    """When it happened."""
    actor: GetProjectAuditLogResponseDataItemActor
    """Who did it: `user`, `key` or `system`, with ID and name."""
    action: str
    """What was done, such as `campaign.sent`."""
    target: Optional[str]
    """What was changed."""
    before: Optional[Dict[str, Any]]
    """What differs, as it was before the change."""
    after: Optional[Dict[str, Any]]
    """What differs, as it is since the change."""
    requestId: Optional[str]
    """The `X-Request-ID` of the request."""
    ipHash: Optional[str]
    """A hash of the network that the request came from."""


class GetProjectAuditLogResponseDataItemActor(TypedDict):
    """Who did it: `user`, `key` or `system`, with ID and name."""
    kind: Literal["user", "key", "mcp", "system"]
    """What kind it is."""
    id: Optional[str]
    """Unique ID."""
    name: Optional[str]
    """The name."""


class GetProjectAuditLogVerifyResponse(TypedDict):
    valid: bool
    """Whether it is valid."""
    entries: float
    """How many entries there are."""
    missing: float
    """How many entries are missing."""
    firstChanged: Optional[GetProjectAuditLogVerifyResponseFirstChanged]
    """The first entry that was changed; null when none was."""


class GetProjectAuditLogVerifyResponseFirstChanged(TypedDict):
    id: str
    """Unique ID."""
    position: float
    """Where it stands."""


class GetProjectReputationResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: ProjectReputation
    """The data."""


class ProjectReputation(TypedDict):
    status: ProjectReputationStatus
    """The status."""
    levels: ProjectReputationLevels
    """The level of each rate."""
    isDisabled: bool
    """Whether the project is disabled."""


class ProjectReputationStatus(TypedDict):
    """The status."""
    projectId: str
    """The project."""
    isHealthy: bool
    """Whether all rates are low enough."""
    shouldDisable: bool
    """Whether a rate reached its limit."""
    twentyFourHour: ProjectReputationStatusTwentyFourHour
    """The last 24 hours."""
    sevenDay: ProjectReputationStatusSevenDay
    """The last seven days."""
    allTime: ProjectReputationStatusAllTime
    """Since the project exists."""
    isNewProject: bool
    """Whether the project is too young to judge by rates."""
    violations: List[str]
    """Rates that reached their limit."""
    warnings: List[str]
    """Rates that are close to their limit."""


class ProjectReputationStatusTwentyFourHour(TypedDict):
    """The last 24 hours."""
    total: float
    """How many there are."""
    bounces: float
    """Permanent bounces."""
    complaints: float
    """Spam reports."""
    bounceRate: float
    """Permanent bounces, in percent."""
    complaintRate: float
    """Spam reports, in percent."""


class ProjectReputationStatusSevenDay(TypedDict):
    """The last seven days."""
    total: float
    """How many there are."""
    bounces: float
    """Permanent bounces."""
    complaints: float
    """Spam reports."""
    bounceRate: float
    """Permanent bounces, in percent."""
    complaintRate: float
    """Spam reports, in percent."""


class ProjectReputationStatusAllTime(TypedDict):
    """Since the project exists."""
    total: float
    """How many there are."""
    bounces: float
    """Permanent bounces."""
    complaints: float
    """Spam reports."""
    bounceRate: float
    """Permanent bounces, in percent."""
    complaintRate: float
    """Spam reports, in percent."""


class ProjectReputationLevels(TypedDict):
    """The level of each rate."""
    bounce7Day: Literal["healthy", "warning", "critical"]
    """Level of the bounce rate of seven days: `healthy`, `warning` or `critical`."""
    bounceAllTime: Literal["healthy", "warning", "critical"]
    """Level of the bounce rate of all time."""
    complaint7Day: Literal["healthy", "warning", "critical"]
    """Level of the complaint rate of seven days."""
    complaintAllTime: Literal["healthy", "warning", "critical"]
    """Level of the complaint rate of all time."""


class GetProjectResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: ProjectSummary
    """The data."""


class ProjectSummary(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""
    defaultSenderDomain: Optional[str]
    """The verified domain that senders are suggested with."""
    createdAt: str
    """When it was created."""


class GetProjectSetupStateResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: GetProjectSetupStateResponseData
    """The data."""


class GetProjectSetupStateResponseData(TypedDict):
    """The data."""
    hasSubscription: bool
    """Whether the project has a paid subscription."""
    hasVerifiedDomain: bool
    """Whether the project can send from a domain."""
    contactCount: float
    """How many contacts have it."""
    lastCampaignSentAt: Optional[str]
    """When the last campaign was sent."""
    hasEnabledWorkflow: bool
    """Whether a workflow is enabled."""
    publicKeyMode: Literal["contract", "hardened"]
    """`hardened` is recommended as soon as browsers or apps use the public key."""
    links: GetProjectSetupStateResponseDataLinks
    """Pages of this deployment beside the dashboard; null where a browser elsewhere could not open them."""


class GetProjectSetupStateResponseDataLinks(TypedDict):
    """Pages of this deployment beside the dashboard; null where a browser elsewhere could not open them."""
    inbox: Optional[str]
    """Of the mail sandbox; null with any other provider."""
    temporal: Optional[str]
    """Of the executions in Temporal’s Web UI."""


class GetTemplateUsageResponse(TypedDict):
    workflowSteps: float
    """How many steps send it."""
    emailsSent: float
    """How many emails were made from it."""
    steps: List[GetTemplateUsageResponseStepsItem]
    """The steps, or how many there are."""
    campaigns: List[Any]
    """Campaigns, or what concerns them."""


class GetTemplateUsageResponseStepsItem(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""
    type: str
    """The type."""
    workflowId: str
    """The workflow."""
    workflowName: str
    """The name of the workflow."""


class ImagePage(TypedDict):
    images: List[ImagePageImagesItem]
    """The images, newest first."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null after the last one."""


class ImagePageImagesItem(TypedDict):
    id: str
    """Unique ID."""
    url: str
    """The address."""
    key: str
    """The key of the stored file."""
    filename: str
    """The name of the file."""
    contentType: str
    """The media type, such as `image/png`."""
    size: float
    """The size in bytes."""
    createdAt: str
    """When it was created."""


class ImportJob(TypedDict):
    id: str
    """Unique ID."""
    state: Literal["waiting", "active", "delayed", "completed", "failed"]
    """The state of the job."""
    progress: float
    """How much is done, in percent."""
    result: Optional[ImportJobResult]
    """What the job did; null before it ends."""
    data: ImportJobData
    """The data."""
    failedReason: Optional[str]
    """Why it failed as a whole; null unless it did."""


class ImportJobResult(TypedDict):
    totalRows: float
    """How many rows the file has."""
    successCount: float
    """How many succeeded."""
    createdCount: float
    """Rows that created a contact."""
    updatedCount: float
    """Rows that changed a contact."""
    unchangedCount: float
    """Rows that changed nothing."""
    failureCount: float
    """How many failed."""
    errors: List[ImportJobResultErrorsItem]
    """What went wrong, by item."""
    reasons: Dict[str, float]
    """The reasons, with counts where there are several."""


class ImportJobResultErrorsItem(TypedDict):
    row: float
    """The line in the file."""
    email: Optional[str]
    """The email address."""
    error: str
    """What went wrong; null when nothing did."""


class ImportJobData(TypedDict):
    """The data."""
    projectId: str
    """The project."""
    filename: str
    """The name of the file."""
    segmentId: NotRequired[str]
    """The segment of the audience type `SEGMENT`."""
    subscribeNew: NotRequired[bool]
    """False when new contacts were not subscribed unless the file said so; absent otherwise."""
    consentSource: NotRequired[str]
    """Where the consent of the contacts that the import subscribed comes from."""


class ImportPreview(TypedDict):
    totalRows: float
    """How many rows the file has."""
    createdCount: float
    """Rows that created a contact."""
    updatedCount: float
    """Rows that changed a contact."""
    unchangedCount: float
    """Rows that changed nothing."""
    failureCount: float
    """How many failed."""
    repeatedCount: float
    """Rows that repeat an address of the file; they are counted as updated or unchanged as well."""
    repeatedUpdatedCount: float
    """Rows of `updatedCount` that repeat an address of the file."""
    newSubscribedCount: float
    """New contacts who would be subscribed."""
    resubscribedCount: float
    """Existing contacts who are not subscribed and would be."""
    unsubscribedCount: float
    """Contacts who are subscribed and would no longer be."""
    updates: List[ImportPreviewUpdatesItem]
    """The first contacts that change, with the fields that differ."""
    errors: List[ImportPreviewErrorsItem]
    """What went wrong, by item."""
    reasons: Dict[str, float]
    """The reasons, with counts where there are several."""


class ImportPreviewUpdatesItem(TypedDict):
    row: float
    """The line in the file."""
    email: str
    """The email address."""
    subscribed: Optional[bool]
    """What the subscription changes to; null when it stays."""
    before: Dict[str, Any]
    """What differs, as it was before the change."""
    after: Dict[str, Any]
    """What differs, as it is since the change."""


class ImportPreviewErrorsItem(TypedDict):
    row: float
    """The line in the file."""
    email: Optional[str]
    """The email address."""
    error: str
    """What went wrong; null when nothing did."""


class InsertWorkflowStepRequest(TypedDict):
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "CONDITION", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """The type."""
    name: str
    """The name."""
    position: NotRequired[Optional[InsertWorkflowStepRequestPosition]]
    """Where it stands."""
    config: Dict[str, Any]
    """What the step does; which fields there are depends on its type."""
    templateId: NotRequired[Optional[str]]
    """The template; null without one."""
    note: NotRequired[Optional[str]]
    """For the people who edit the workflow; null or empty removes it."""


class InsertWorkflowStepRequestPosition(TypedDict):
    x: float
    """Pixels from the left."""
    y: float
    """Pixels from the top."""


class Invitation(TypedDict):
    id: str
    """Unique ID."""
    email: str
    """The email address."""
    role: Literal["MEMBER", "ADMIN", "OWNER"]
    """The role in the project."""
    invitedBy: Optional[str]
    """Address of the member who sent the invitation; null when their account is gone."""
    createdAt: str
    """When it was created."""
    expiresAt: str
    """When the key stops working; null for never."""


class InvoiceList(TypedDict):
    invoices: List[InvoiceListInvoicesItem]
    """The invoices, newest first."""
    hasUnpaidInvoices: bool
    """Whether an invoice is unpaid."""
    unpaidInvoices: List[InvoiceListUnpaidInvoicesItem]
    """Invoices that are unpaid."""


class InvoiceListInvoicesItem(TypedDict):
    id: str
    """Unique ID."""
    number: Optional[str]
    """The number of the invoice."""
    status: Optional[str]
    """The status."""
    amountDue: float
    """What is to be paid, in the smallest unit of the currency."""
    amountPaid: float
    """What was paid, in the smallest unit of the currency."""
    currency: str
    """The currency, such as `usd`."""
    created: str
    """When it was created."""
    periodStart: str
    """When the period begins."""
    periodEnd: str
    """When the period ends."""
    hostedInvoiceUrl: Optional[str]
    """Page of the invoice at the payment processor."""
    invoicePdf: Optional[str]
    """The invoice as PDF."""
    subtotal: float
    """The sum before taxes, in the smallest unit of the currency."""
    total: float
    """The sum, in the smallest unit of the currency."""
    paid: bool
    """Whether it is paid."""


class InvoiceListUnpaidInvoicesItem(TypedDict):
    id: str
    """Unique ID."""
    number: Optional[str]
    """The number of the invoice."""
    amountDue: float
    """What is to be paid, in the smallest unit of the currency."""
    currency: str
    """The currency, such as `usd`."""
    dueDate: Optional[str]
    """When it is due."""
    hostedInvoiceUrl: Optional[str]
    """Page of the invoice at the payment processor."""


class ListActivityTypesResponse(TypedDict):
    types: List[str]
    """The types."""


class ListCampaignResultsResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: CampaignResults
    """The data."""


class ListCampaignVersionsResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: List[ContentVersion]
    """The data."""


class ListContactEventsResponse(TypedDict):
    events: List[Event]
    """The events."""


class ListContactExecutionsResponse(TypedDict):
    data: List[ListContactExecutionsResponseDataItem]
    """The data."""


class ListContactExecutionsResponseDataItem(TypedDict):
    id: str
    """Unique ID."""
    workflowId: str
    """The workflow."""
    contactId: str
    """The contact."""
    status: Literal["RUNNING", "WAITING", "COMPLETED", "EXITED", "FAILED", "CANCELLED"]
    """The status."""
    currentStepId: Optional[str]
    """The step the contact is at; null after the end."""
    exitReason: Optional[str]
    """Why the contact left; null while inside."""
    context: Optional[Dict[str, Any]]
    """Data of the event that started the execution."""
    startedAt: str
    """When it began."""
    completedAt: Optional[str]
    """When it ended; null while it runs."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""
    contact: ListContactExecutionsResponseDataItemContact
    """The contact."""
    currentStep: Optional[ListContactExecutionsResponseDataItemCurrentStep]
    """The step the contact is at."""
    currentStepSince: Optional[str]
    """Since when the contact is at the step."""
    workflow: ListContactExecutionsResponseDataItemWorkflow
    """The workflow."""


class ListContactExecutionsResponseDataItemContact(TypedDict):
    """The contact."""
    id: str
    """Unique ID."""
    email: str
    """The email address."""


class ListContactExecutionsResponseDataItemCurrentStep(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "CONDITION", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """The type."""


class ListContactExecutionsResponseDataItemWorkflow(TypedDict):
    """The workflow."""
    id: str
    """Unique ID."""
    name: str
    """The name."""


class ListContactFieldValuesResponse(TypedDict):
    field: str
    """The field."""
    values: List[Union[str, float, bool]]
    """The distinct values."""
    count: float
    """How many."""
    limit: float
    """The limit; null without one."""


class ListContactFieldsResponse(TypedDict):
    fields: List[ListContactFieldsResponseFieldsItem]
    """The fields."""
    count: float
    """How many."""


class ListContactFieldsResponseFieldsItem(TypedDict):
    field: str
    """The field."""
    type: Literal["string", "number", "boolean", "date"]
    """The type."""
    isCustom: bool
    """Whether it is a key of contact data."""
    coverage: float
    """Share of contacts that have it, in percent."""


class ListContactSegmentsResponse(TypedDict):
    data: List[ListContactSegmentsResponseDataItem]
    """The data."""


class ListContactSegmentsResponseDataItem(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""
    type: Literal["DYNAMIC", "STATIC"]
    """The type."""
    enteredAt: Optional[str]
    """When it entered; null where the segment keeps no memberships."""


class ListEventNamesResponse(TypedDict):
    eventNames: List[str]
    """Names of events, the most frequent first."""


class ListEventsResponse(TypedDict):
    events: List[ListEventsResponseEventsItem]
    """The events."""


class ListEventsResponseEventsItem(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""
    data: Optional[Dict[str, Any]]
    """The data."""
    dataOmitted: NotRequired[bool]
    """The data is too large for this answer: `data` is null here."""
    projectId: str
    """The project."""
    contactId: Optional[str]
    """The contact."""
    emailId: Optional[str]
    """The email; null without one."""
    createdAt: str
    """When it was created."""
    contact: Optional[ListEventsResponseEventsItemContact]
    """The contact."""


class ListEventsResponseEventsItemContact(TypedDict):
    email: str
    """The email address."""


class ListInvitationsResponse(TypedDict):
    data: List[Invitation]
    """The data."""


class ListProjectMembersResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: List[ListedMember]
    """The data."""


class ListedMember(TypedDict):
    userId: str
    """The user."""
    email: str
    """The email address."""
    role: Literal["MEMBER", "ADMIN", "OWNER"]
    """The role in the project."""
    createdAt: str
    """When it was created."""


class ListProjectSummariesResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: Union[ProjectSummary, List[ProjectSummary]]
    """The data."""


class ListRunningActivityResponse(TypedDict):
    data: List[ListRunningActivityResponseDataItem]
    """The data."""
    hold: Optional[SendingHold]
    """While the mail provider accepts no mail and mail of the project waits for it; null otherwise."""


class ListRunningActivityResponseDataItem(TypedDict):
    type: Literal["campaign", "import", "bulk", "migration"]
    """The type."""
    id: str
    """Of the campaign, the job, or the workflow whose contacts are migrated."""
    name: Optional[str]
    """Of the campaign or the workflow, the file of an import, the operation of a bulk job."""
    progress: Optional[float]
    """In percent; null before there is anything to count."""
    isPaused: bool
    """Whether a campaign waits to be resumed."""
    startedAt: str
    """When it began."""


class ListSegmentContactsResponse(TypedDict):
    data: List[Contact]
    """The data."""
    page: float
    """The number of the page, from 1."""
    pageSize: float
    """How many items a page has."""
    total: float
    """How many there are."""
    totalPages: float
    """How many pages there are."""


class ListSuppressedEmailsResponse(TypedDict):
    emails: List[ListSuppressedEmailsResponseEmailsItem]
    """Suppressed mail, the newest first."""
    nextCursor: Optional[str]
    """Pass it as `cursor` to get the next page; null after the last one."""


class ListSuppressedEmailsResponseEmailsItem(TypedDict):
    id: str
    """Unique ID."""
    createdAt: str
    """When it was created."""
    recipientAddress: str
    """The address of the recipient."""
    subject: str
    """The subject, with Liquid variables."""
    renderedSubject: str
    """The subject as it would have been sent."""
    suppression: SuppressionMatch
    """The rule that suppressed it; null unless one did."""
    status: str
    """The status."""


class SuppressionMatch(TypedDict):
    ruleId: str
    """The suppression rule."""
    name: str
    """The name."""
    kind: Literal["ADDRESS", "DOMAIN", "PREFIX", "SUFFIX", "WILDCARD", "KEY"]
    """What kind it is."""
    pattern: str
    """The pattern of the rule."""
    recipient: str
    """Who gets it."""
    matchedAt: str
    """When the rule matched."""


class ListUpcomingActivityResponse(TypedDict):
    activities: List[Activity]
    """What is coming up, the next first."""


class ListWorkflowExecutionsResponse(TypedDict):
    executions: List[ListedWorkflowExecution]
    """The executions, or how many there are."""
    data: List[ListedWorkflowExecution]
    """The data."""
    page: float
    """The number of the page, from 1."""
    pageSize: float
    """How many items a page has."""
    total: float
    """How many there are."""
    totalPages: float
    """How many pages there are."""


class ListedWorkflowExecution(TypedDict):
    id: str
    """Unique ID."""
    workflowId: str
    """The workflow."""
    contactId: str
    """The contact."""
    status: Literal["RUNNING", "WAITING", "COMPLETED", "EXITED", "FAILED", "CANCELLED"]
    """The status."""
    currentStepId: Optional[str]
    """The step the contact is at; null after the end."""
    exitReason: Optional[str]
    """Why the contact left; null while inside."""
    context: Optional[Dict[str, Any]]
    """Data of the event that started the execution."""
    startedAt: str
    """When it began."""
    completedAt: Optional[str]
    """When it ended; null while it runs."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""
    contact: ListedWorkflowExecutionContact
    """The contact."""
    currentStep: Optional[ListedWorkflowExecutionCurrentStep]
    """The step the contact is at."""
    currentStepSince: Optional[str]
    """Since when the contact is at the step."""


class ListedWorkflowExecutionContact(TypedDict):
    """The contact."""
    id: str
    """Unique ID."""
    email: str
    """The email address."""


class ListedWorkflowExecutionCurrentStep(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "CONDITION", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """The type."""


class ListWorkflowFieldsResponse(TypedDict):
    fields: List[str]
    """The fields."""
    typedFields: List[ListWorkflowFieldsResponseTypedFieldsItem]
    """Fields with their types."""
    count: float
    """How many."""


class ListWorkflowFieldsResponseTypedFieldsItem(TypedDict):
    field: str
    """The field."""
    type: str
    """The type."""
    category: str
    """Where the field comes from: the contact, its data, or an event."""


class ListWorkflowVersionsResponse(TypedDict):
    data: List[ListWorkflowVersionsResponseDataItem]
    """The data."""
    page: float
    """The number of the page, from 1."""
    pageSize: float
    """How many items a page has."""
    total: float
    """How many there are."""
    totalPages: float
    """How many pages there are."""


class ListWorkflowVersionsResponseDataItem(TypedDict):
    version: float
    """The number of the version."""
    createdAt: str
    """When it was created."""
    isCurrent: bool
    """Whether it is the version that new contacts enter."""
    steps: float
    """The steps, or how many there are."""
    active: float
    """How many are inside or under way."""


class ListWorkflowsResponse(TypedDict):
    data: List[ListWorkflowsResponseDataItem]
    """The data."""
    page: float
    """The number of the page, from 1."""
    pageSize: float
    """How many items a page has."""
    total: float
    """How many there are."""
    totalPages: float
    """How many pages there are."""
    hasMore: bool
    """Whether there is another page."""
    cursor: Optional[str]
    """Pass it on to get the next page; null after the last one."""


ListWorkflowsResponseDataItem = TypedDict(
    "ListWorkflowsResponseDataItem",
    {
        "id": "str",
        "projectId": "str",
        "name": "str",
        "description": "Optional[str]",
        "enabled": "bool",
        "triggerType": "Literal['EVENT', 'MANUAL', 'SCHEDULE']",
        "triggerConfig": "Optional[Dict[str, Any]]",
        "allowReentry": "bool",
        "createdAt": "str",
        "updatedAt": "str",
        "_count": "ListWorkflowsResponseDataItemCount",
    },
)


class ListWorkflowsResponseDataItemCount(TypedDict):
    """How many of each it has."""
    steps: float
    """The steps, or how many there are."""
    executions: float
    """The executions, or how many there are."""


class LookupContactsRequest(TypedDict):
    emails: List[str]
    """Email addresses."""


class LookupContactsResponse(TypedDict):
    found: List[str]
    """Addresses that are contacts, as they were given."""
    notFound: List[str]
    """Addresses that are no contacts, as they were given."""


class MigrateWorkflowRequest(TypedDict):
    dryRun: NotRequired[bool]
    """Default: `false`."""
    plan: NotRequired[List[MigrateWorkflowRequestPlanItem]]
    """Default: `[]`."""
    otherwise: NotRequired[MigrateWorkflowRequestOtherwise]
    """Default: `{"action":"finish"}`."""


class MigrateWorkflowRequestPlanItem(TypedDict):
    stepId: str
    """The step."""
    action: Literal["finish", "moveAtNextStep", "moveNow", "exit"]
    """What was done, or what is to happen."""
    toStepId: NotRequired[Optional[str]]
    """The step that it leads to."""
    reason: NotRequired[Optional[str]]
    """Why."""


class MigrateWorkflowRequestOtherwise(TypedDict):
    """Default: `{"action":"finish"}`."""
    action: Literal["finish", "moveAtNextStep", "moveNow", "exit"]
    """What was done, or what is to happen."""
    toStepId: NotRequired[Optional[str]]
    """The step that it leads to."""
    reason: NotRequired[Optional[str]]
    """Why."""


MigrateWorkflowResponse: TypeAlias = "Union[WorkflowMigrationPreview, WorkflowMigration]"


class WorkflowMigrationPreview(TypedDict):
    dryRun: Literal[True]
    """Whether this only tells what would happen."""
    toVersion: float
    """The version contacts are migrated to."""
    people: float
    """How many contacts each rule matches."""
    rules: List[WorkflowMigrationPreviewRulesItem]
    """The rules of the plan, each with how many contacts it matches."""


class WorkflowMigrationPreviewRulesItem(TypedDict):
    stepId: Optional[str]
    """The step."""
    stepName: Optional[str]
    """The name of the step."""
    stepType: Optional[Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "CONDITION", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]]
    """The type of the step."""
    action: Literal["finish", "moveAtNextStep", "moveNow", "exit"]
    """What was done, or what is to happen."""
    toStepId: Optional[str]
    """The step that it leads to."""
    people: float
    """How many contacts each rule matches."""


class WorkflowMigration(TypedDict):
    id: str
    """Unique ID."""
    workflowId: str
    """The workflow."""
    state: Literal["waiting", "active", "completed", "cancelled", "failed"]
    """The state of the job."""
    toVersion: float
    """The version contacts are migrated to."""
    progress: float
    """How much is done, in percent."""
    expected: float
    """How many contacts the plan matched."""
    finished: float
    """Contacts who had finished before their turn."""
    movedAtNextStep: float
    """Contacts who go on in the new graph at their next step."""
    movedNow: float
    """Contacts who were moved at once."""
    exited: float
    """Contacts who left by the plan."""
    passedOver: float
    """Contacts that were left where they are."""
    failedReason: Optional[str]
    """Why it failed as a whole; null unless it did."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""
    completedAt: Optional[str]
    """When it ended; null while it runs."""


class MultiConditionStepConfig(TypedDict):
    mode: Literal["multi"]
    """How it is evaluated: `binary` with two branches, or `multi`."""
    field: str
    """The field."""
    branches: List[MultiConditionStepConfigBranchesItem]
    """The paths out of the step."""


class MultiConditionStepConfigBranchesItem(TypedDict):
    id: str
    """Unique ID."""
    name: NotRequired[Optional[str]]
    """The name."""
    operator: Literal["equals", "notEquals", "contains", "notContains", "greaterThan", "lessThan", "greaterThanOrEqual", "lessThanOrEqual", "exists", "notExists"]
    """How the field is compared."""
    value: NotRequired[Any]
    """What the field is compared with."""


class OwnProject(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""
    public: Optional[str]
    """The public key; null when it cannot be decrypted."""
    secret: Optional[str]
    """The secret key; null when it is hidden or cannot be decrypted."""
    disabled: bool
    """Whether the project is disabled: it can be read and not written to."""
    disabledReason: Optional[Literal["REPUTATION", "PAYMENT_FAILED", "CONTENT", "MANUAL"]]
    """Why it is disabled; null while it is not."""
    customer: Optional[str]
    """The customer at the payment processor; null without one."""
    subscription: Optional[str]
    """The subscription at the payment processor; null without one."""
    billingLimitWorkflows: Optional[int]
    """Monthly limit of workflow mail; null without one."""
    billingLimitCampaigns: Optional[int]
    """Monthly limit of campaign mail; null without one."""
    billingLimitTransactional: Optional[int]
    """Monthly limit of transactional mail; null without one."""
    billingLimitInbound: Optional[int]
    """Monthly limit of received mail; null without one."""
    tracking: Literal["ENABLED", "DISABLED", "MARKETING_ONLY"]
    """Whether opens and clicks are tracked."""
    language: str
    """The language of recipient pages and footers."""
    escapeContactData: bool
    """Whether stored contact data is HTML-escaped in HTML."""
    hideSecretKey: bool
    """Whether members do not see the secret key."""
    approvalAbove: Optional[float]
    """A campaign of a member, or of a key with scopes, to more contacts than this needs the approval of an admin; null for none."""
    testAddresses: List[str]
    """Addresses beside those of members that may get tests of campaigns and templates, such as a seed list."""
    publicKeyMode: Literal["contract", "hardened"]
    """`contract`: the public key shares the rate limit and the idempotency keys of the project. `hardened`: it has its own."""
    publicKeyRequestsPerMinute: float
    """Requests a minute of the public key while it is `hardened`; never more than the limit of the project."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""
    role: Literal["MEMBER", "ADMIN", "OWNER"]
    """The role in the project."""


class PauseCampaignResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: CampaignWithSegment
    """The data."""
    message: str
    """What happened, for people."""


class PaymentPage(TypedDict):
    url: str
    """The address."""


class PreviewSegmentRequest(TypedDict):
    condition: NotRequired[Optional[Condition]]
    """The condition tree."""
    limit: NotRequired[int]
    """How many of the newest contacts to return; 0 to count only."""


class PreviewSegmentResponse(TypedDict):
    total: float
    """How many there are."""
    contacts: List[Contact]
    """The contacts."""


class PreviewSuppressionRulesRequest(TypedDict):
    address: str
    """The email address."""


class PreviewSuppressionRulesResponse(TypedDict):
    suppressed: bool
    """Whether mail to the address is suppressed."""
    match: Optional[PreviewSuppressionRulesResponseMatch]
    """The rule that matches; null when none does."""


class PreviewSuppressionRulesResponseMatch(TypedDict):
    ruleId: str
    """The suppression rule."""
    name: str
    """The name."""
    kind: Literal["ADDRESS", "DOMAIN", "PREFIX", "SUFFIX", "WILDCARD"]
    """What kind it is."""
    pattern: str
    """The pattern of the rule."""
    recipient: str
    """Who gets it."""
    matchedAt: str
    """When the rule matched."""


class PreviewTemplateRequest(TypedDict):
    subject: str
    """The subject, with Liquid variables."""
    body: str
    """The HTML, with Liquid variables."""
    type: NotRequired[Literal["TRANSACTIONAL", "MARKETING", "HEADLESS"]]
    """Default: `"MARKETING"`."""
    contactId: NotRequired[Optional[str]]
    """The contact."""
    data: NotRequired[Optional[Dict[str, Any]]]
    """The data."""


class PreviewTemplateResponse(TypedDict):
    subject: str
    """The subject, with Liquid variables."""
    html: str
    """The HTML as a recipient gets it."""
    text: Optional[str]
    """The text part."""


class Project(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""
    public: Optional[str]
    """The public key; null when it cannot be decrypted."""
    secret: Optional[str]
    """The secret key; null when it is hidden or cannot be decrypted."""
    disabled: bool
    """Whether the project is disabled: it can be read and not written to."""
    disabledReason: Optional[Literal["REPUTATION", "PAYMENT_FAILED", "CONTENT", "MANUAL"]]
    """Why it is disabled; null while it is not."""
    customer: Optional[str]
    """The customer at the payment processor; null without one."""
    subscription: Optional[str]
    """The subscription at the payment processor; null without one."""
    billingLimitWorkflows: Optional[int]
    """Monthly limit of workflow mail; null without one."""
    billingLimitCampaigns: Optional[int]
    """Monthly limit of campaign mail; null without one."""
    billingLimitTransactional: Optional[int]
    """Monthly limit of transactional mail; null without one."""
    billingLimitInbound: Optional[int]
    """Monthly limit of received mail; null without one."""
    tracking: Literal["ENABLED", "DISABLED", "MARKETING_ONLY"]
    """Whether opens and clicks are tracked."""
    language: str
    """The language of recipient pages and footers."""
    escapeContactData: bool
    """Whether stored contact data is HTML-escaped in HTML."""
    hideSecretKey: bool
    """Whether members do not see the secret key."""
    approvalAbove: Optional[float]
    """A campaign of a member, or of a key with scopes, to more contacts than this needs the approval of an admin; null for none."""
    testAddresses: List[str]
    """Addresses beside those of members that may get tests of campaigns and templates, such as a seed list."""
    publicKeyMode: Literal["contract", "hardened"]
    """`contract`: the public key shares the rate limit and the idempotency keys of the project. `hardened`: it has its own."""
    publicKeyRequestsPerMinute: float
    """Requests a minute of the public key while it is `hardened`; never more than the limit of the project."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""


class QueuedJob(TypedDict):
    message: str
    """What happened, for people."""
    jobId: str
    """The job, to ask for its progress."""


class RefreshSegmentResponse(TypedDict):
    memberCount: float
    """How many members it had when they were last counted."""


class RegenerateProjectKeysResponse(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""
    disabled: bool
    """Whether the project is disabled: it can be read and not written to."""
    customer: Optional[str]
    """The customer at the payment processor; null without one."""
    subscription: Optional[str]
    """The subscription at the payment processor; null without one."""
    public: str
    """The public key; null when it cannot be decrypted."""
    secret: str
    """The secret key; null when it is hidden or cannot be decrypted."""


class RemoveSegmentMembersRequest(TypedDict):
    emails: List[str]
    """Email addresses."""


class RemoveSegmentMembersResponse(TypedDict):
    removed: float
    """How many were removed."""


class ReplaceWorkflowGraphRequest(TypedDict):
    steps: List[ReplaceWorkflowGraphRequestStepsItem]
    """The steps, or how many there are."""
    transitions: List[CreateWorkflowTransitionRequest]
    """The paths between steps."""
    migrate: NotRequired[Optional[ReplaceWorkflowGraphRequestMigrate]]
    """A plan for the contacts inside; without one they stay in their version."""
    dryRun: NotRequired[bool]
    """Default: `false`."""


class ReplaceWorkflowGraphRequestStepsItem(TypedDict):
    id: str
    """Unique ID."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "CONDITION", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """The type."""
    name: str
    """The name."""
    position: ReplaceWorkflowGraphRequestStepsItemPosition
    """Where it stands."""
    config: Dict[str, Any]
    """What the step does; which fields there are depends on its type."""
    templateId: NotRequired[Optional[str]]
    """The template; null without one."""
    note: NotRequired[Optional[str]]
    """For the people who edit the workflow; null or empty removes it."""


class ReplaceWorkflowGraphRequestStepsItemPosition(TypedDict):
    """Where it stands."""
    x: float
    """Pixels from the left."""
    y: float
    """Pixels from the top."""


class ReplaceWorkflowGraphRequestMigrate(TypedDict):
    plan: NotRequired[List[ReplaceWorkflowGraphRequestMigratePlanItem]]
    """Default: `[]`."""
    otherwise: NotRequired[ReplaceWorkflowGraphRequestMigrateOtherwise]
    """Default: `{"action":"finish"}`."""


class ReplaceWorkflowGraphRequestMigratePlanItem(TypedDict):
    stepId: str
    """The step."""
    action: Literal["finish", "moveAtNextStep", "moveNow", "exit"]
    """What was done, or what is to happen."""
    toStepId: NotRequired[Optional[str]]
    """The step that it leads to."""
    reason: NotRequired[Optional[str]]
    """Why."""


class ReplaceWorkflowGraphRequestMigrateOtherwise(TypedDict):
    """Default: `{"action":"finish"}`."""
    action: Literal["finish", "moveAtNextStep", "moveNow", "exit"]
    """What was done, or what is to happen."""
    toStepId: NotRequired[Optional[str]]
    """The step that it leads to."""
    reason: NotRequired[Optional[str]]
    """Why."""


ReplaceWorkflowGraphResponse: TypeAlias = "Union[WorkflowGraphPreview, ReplacedWorkflowGraph]"


class WorkflowGraphPreview(TypedDict):
    dryRun: Literal[True]
    """Whether this only tells what would happen."""
    revision: float
    """Counts every edit; the `ETag` without its quotes."""
    ids: Dict[str, str]
    """The IDs."""
    changes: WorkflowGraphChanges
    """What the new graph changes."""
    issues: List[WorkflowIssue]
    """What keeps the workflow from being enabled."""
    people: WorkflowMigrationPreview
    """How many contacts each rule matches."""


class WorkflowGraphChanges(TypedDict):
    steps: List[WorkflowGraphChangesStepsItem]
    """The steps, or how many there are."""
    transitions: List[WorkflowGraphChangesTransitionsItem]
    """The paths between steps."""


class WorkflowGraphChangesStepsItem(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "CONDITION", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """The type."""
    change: Literal["added", "removed", "changed", "moved"]
    """What became of it: added, removed or changed."""
    fields: List[str]
    """The fields."""


class WorkflowGraphChangesTransitionsItem(TypedDict):
    fromStepId: str
    """The step that the path leaves."""
    toStepId: str
    """The step that it leads to."""
    branch: Optional[str]
    """The branch of a condition that this path is for; null for plain steps."""
    waitOutcome: Optional[Literal["EVENT", "TIMEOUT"]]
    """Which end of a wait the path is for: `EVENT` or `TIMEOUT`; null for both."""
    change: Literal["added", "removed"]
    """What became of it: added, removed or changed."""


class WorkflowIssue(TypedDict):
    stepId: Optional[str]
    """The step."""
    field: str
    """The field."""
    message: str
    """What happened, for people."""


class ReplacedWorkflowGraph(TypedDict):
    dryRun: Literal[False]
    """Whether this only tells what would happen."""
    ids: Dict[str, str]
    """The IDs that new steps got, by the names they had in the request."""
    changes: WorkflowGraphChanges
    """What the new graph changes."""
    workflow: WorkflowWithGraph
    """The workflow."""
    migration: Optional[WorkflowMigration]
    """The job that migrates the contacts inside."""


class WorkflowWithGraph(TypedDict):
    id: str
    """Unique ID."""
    projectId: str
    """The project."""
    name: str
    """The name."""
    description: Optional[str]
    """What it is for, in the words of its author."""
    enabled: bool
    """Whether it is on."""
    triggerType: Literal["EVENT", "MANUAL", "SCHEDULE"]
    """What starts it: `EVENT`, `MANUAL` or `SCHEDULE`."""
    triggerConfig: Optional[Dict[str, Any]]
    """What starts it: the event, or the schedule with its audience."""
    allowReentry: bool
    """Whether a contact may enter again after leaving."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""
    revision: float
    """Counts every edit; the `ETag` without its quotes."""
    editedAt: Optional[str]
    """When somebody last edited it."""
    editedBy: Optional[Union[EditedByUser, EditedByKey]]
    """Who last edited it."""
    steps: List[WorkflowWithGraphStepsItem]
    """The steps, or how many there are."""
    transitions: List[WorkflowTransition]
    """The paths between steps."""
    issues: List[WorkflowIssue]
    """What keeps the workflow from being enabled."""


class WorkflowWithGraphStepsItem(TypedDict):
    id: str
    """Unique ID."""
    workflowId: str
    """The workflow."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "CONDITION", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """The type."""
    name: str
    """The name."""
    position: WorkflowWithGraphStepsItemPosition
    """Where it stands."""
    config: WorkflowStepConfig
    """What the step does; which fields there are depends on its type."""
    templateId: Optional[str]
    """The template; null without one."""
    note: Optional[str]
    """A note for the people who edit the workflow."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""
    template: Optional[WorkflowWithGraphStepsItemTemplate]
    """The template that the step sends."""
    outgoingTransitions: List[WorkflowTransition]
    """The paths that leave the step."""
    incomingTransitions: List[WorkflowTransition]
    """The paths that lead to the step."""


class WorkflowWithGraphStepsItemPosition(TypedDict):
    """Where it stands."""
    x: float
    """Pixels from the left."""
    y: float
    """Pixels from the top."""


WorkflowStepConfig: TypeAlias = "Union[TriggerStepConfig, SendEmailStepConfig, DelayStepConfig, WaitForEventStepConfig, WebhookStepConfig, UpdateContactStepConfig, ExitStepConfig, BinaryConditionStepConfig, MultiConditionStepConfig]"


class TriggerStepConfig(TypedDict):
    eventName: NotRequired[Optional[str]]
    """The name of the event."""


class SendEmailStepConfig(TypedDict):
    templateId: NotRequired[Optional[str]]
    """The template; null without one."""
    recipient: NotRequired[Optional[SendEmailStepConfigRecipient]]
    """Who gets it."""


class SendEmailStepConfigRecipient(TypedDict):
    type: NotRequired[Literal["CONTACT", "CUSTOM"]]
    """Default: `"CONTACT"`."""
    customEmail: NotRequired[Optional[str]]
    """The address that gets the mail in place of the contact."""


class WaitForEventStepConfig(TypedDict):
    eventName: str
    """The name of the event."""
    timeout: NotRequired[Optional[float]]
    """Seconds after which the wait ends; null for never."""


class WebhookStepConfig(TypedDict):
    url: str
    """The address."""
    method: NotRequired[Literal["GET", "POST", "PUT", "PATCH", "DELETE"]]
    """Default: `"POST"`."""
    headers: NotRequired[Optional[Dict[str, str]]]
    """Further headers of the message."""
    body: NotRequired[Any]
    """The HTML, with Liquid variables."""
    failOnError: NotRequired[bool]
    """Default: `false`."""
    retries: NotRequired[int]
    """Default: `0`."""


class UpdateContactStepConfig(TypedDict):
    updates: NotRequired[Optional[Dict[str, Any]]]
    """The keys of contact data to set."""
    data: NotRequired[Optional[Dict[str, Any]]]
    """The data."""
    subscriptionAction: NotRequired[Literal["none", "subscribe", "unsubscribe"]]
    """Default: `"none"`."""


class WorkflowWithGraphStepsItemTemplate(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""


class WorkflowTransition(TypedDict):
    id: str
    """Unique ID."""
    fromStepId: str
    """The step that the path leaves."""
    toStepId: str
    """The step that it leads to."""
    condition: Optional[WorkflowTransitionCondition]
    """The condition tree."""
    branch: Optional[str]
    """The branch of a condition that this path is for; null for plain steps."""
    waitOutcome: Optional[Literal["EVENT", "TIMEOUT"]]
    """Which end of a wait the path is for: `EVENT` or `TIMEOUT`; null for both."""
    priority: float
    """The order among several."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""


class WorkflowTransitionCondition(TypedDict):
    branch: str
    """The branch of a condition that this path is for; null for plain steps."""


class ReplayWebhookEndpointRequest(TypedDict):
    since: str
    """From when on."""
    until: NotRequired[str]
    """Up to when."""
    events: NotRequired[List[str]]
    """The events."""
    only: NotRequired[Literal["failed", "all"]]
    """Default: `"all"`."""


class ResendCampaignResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: CampaignWithSegment
    """The data."""
    message: str
    """What happened, for people."""


class ResendEmailRequest(TypedDict):
    evenIfItArrived: NotRequired[bool]
    """Also resend an email that may have arrived; the recipient may receive it twice."""


class RestoreCampaignVersionResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: Campaign
    """The data."""


class ResumeCampaignResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: CampaignWithSegment
    """The data."""
    message: str
    """What happened, for people."""


class RetryWorkflowExecutionsRequest(TypedDict):
    executionIds: NotRequired[List[str]]
    """Failed executions; the latest 1,000 when absent."""


class RetryWorkflowExecutionsResponse(TypedDict):
    retried: float
    """How many resume at the step that failed."""
    skipped: float
    """How many do not: they did not fail, or their contact is in the workflow again."""
    more: bool
    """Whether there are more failed executions that can be retried."""


class ReviseCampaignRequest(TypedDict):
    subject: NotRequired[str]
    """The subject, with Liquid variables."""
    body: NotRequired[str]
    """The HTML, with Liquid variables."""
    document: NotRequired[Optional[Dict[str, Any]]]
    """The blocks to compile the body from, in place of `body`; see the guide. Null keeps the HTML alone."""


class ReviseCampaignResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: CampaignWithSegment
    """The data."""
    message: str
    """What happened, for people."""


class RotateWebhookEndpointSecretRequest(TypedDict):
    overlapHours: NotRequired[int]
    """Default: `24`."""


class SavedBlock(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""
    content: List[Dict[str, Any]]
    """The content."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""


class SavedBlockList(TypedDict):
    data: List[SavedBlock]
    """The data."""


class SearchContactsRequest(TypedDict):
    filter: NotRequired[ContactFilter]
    """Which contacts: those that match."""
    sort: NotRequired[Literal["email", "createdAt", "updatedAt"]]
    """What to sort by."""
    dir: NotRequired[Literal["asc", "desc"]]
    """Direction of the sort."""
    limit: NotRequired[int]
    """Items of a page; 20 when absent."""
    cursor: NotRequired[str]
    """`cursor` of the page before, unchanged; the first page when absent or empty."""


class SendCampaignRequest(TypedDict):
    canary: NotRequired[Optional[CanaryOptions]]
    """Sends a first slice and holds everyone else back. Absent keeps the canary of a scheduled campaign, null removes it."""
    fingerprint: NotRequired[Optional[str]]
    """That of a dry run: the send is refused where the campaign is not as it was reviewed. Absent keeps the review of a scheduled campaign, null removes it."""
    drift: NotRequired[Union[Literal["none"], Literal["fewer"], float]]
    """How far the audience may have changed since the dry run, with its `fingerprint`; `none` when absent."""
    scheduledFor: NotRequired[Any]
    """When to send: a date such as `2026-03-01T09:00:00Z`, or epoch milliseconds. Absent or null: now."""


class SendCampaignResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: CampaignWithSegment
    """The data."""
    message: str
    """What happened, for people."""


class SendEmailBatchRequest(TypedDict):
    emails: List[SendEmailRequest]
    """The emails, each as in `POST /v1/send`."""
    mode: NotRequired[Literal["all", "each"]]
    """`all`: nothing is sent unless every item can be. `each`: every item is accepted or refused by itself."""


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
    """The name."""
    email: str
    """The email address."""


class SendEmailRequestTo3Item2(TypedDict):
    name: NotRequired[Optional[str]]
    """The name."""
    email: str
    """The email address."""


class SendEmailRequestFrom2(TypedDict):
    name: NotRequired[Optional[str]]
    """The name."""
    email: str
    """The email address."""


class SendEmailRequestAttachmentsItem(TypedDict):
    filename: str
    """The name of the file."""
    content: str
    """The file in base64."""
    contentType: str
    """The media type, such as `image/png`."""
    disposition: NotRequired[Literal["attachment", "inline"]]
    """Default: `"attachment"`."""
    contentId: NotRequired[str]
    """The ID by which the HTML shows an inline file: `cid:<contentId>`."""


class SendEmailBatchResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: SendEmailBatchResponseData
    """The data."""


class SendEmailBatchResponseData(TypedDict):
    """The data."""
    results: List[Union[SendEmailBatchResponseDataResultsItem, SendEmailBatchResponseDataResultsItem2]]
    """One item for each email, in the order of the request."""
    timestamp: str
    """When it happened."""


class SendEmailBatchResponseDataResultsItem(TypedDict):
    ok: Literal[True]
    """Whether it was accepted."""
    emails: List[SendEmailBatchResponseDataResultsItemEmailsItem]
    """One item for each recipient, in the order of `to`."""


class SendEmailBatchResponseDataResultsItemEmailsItem(TypedDict):
    contact: SendEmailBatchResponseDataResultsItemEmailsItemContact
    """The contact."""
    email: str
    """The ID of the email."""
    scheduledFor: NotRequired[Optional[str]]
    """With `scheduledFor` or `hold` only: when it is sent; null for now."""
    heldUntil: NotRequired[Optional[str]]
    """With `scheduledFor` or `hold` only: when it is sent unless it is cancelled before."""


class SendEmailBatchResponseDataResultsItemEmailsItemContact(TypedDict):
    """The contact."""
    id: str
    """Unique ID."""
    email: str
    """The ID of the email."""


class SendEmailBatchResponseDataResultsItem2(TypedDict):
    ok: Literal[False]
    """Whether it was accepted."""
    error: SendEmailBatchResponseDataResultsItem2Error
    """Why it was refused."""


class SendEmailBatchResponseDataResultsItem2Error(TypedDict):
    """Why it was refused."""
    code: str
    """What is wrong, for programs."""
    message: str
    """What happened, for people."""
    statusCode: float
    """What `POST /v1/send` would have answered."""
    details: NotRequired[Dict[str, Any]]
    """Facts about the failure, for programs."""
    errors: NotRequired[List[SendEmailBatchResponseDataResultsItem2ErrorErrorsItem]]
    """What went wrong, by item."""
    suggestion: NotRequired[str]
    """What to do about it."""


class SendEmailBatchResponseDataResultsItem2ErrorErrorsItem(TypedDict):
    field: str
    """The field."""
    message: str
    """What happened, for people."""
    code: str
    """What is wrong, for programs."""
    received: NotRequired[str]
    """What was received instead."""


class SendEmailResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: SendEmailResponseData
    """The data."""


class SendEmailResponseData(TypedDict):
    """The data."""
    emails: List[SendEmailResponseDataEmailsItem]
    """One item for each recipient, in the order of `to`."""
    timestamp: str
    """When it happened."""


class SendEmailResponseDataEmailsItem(TypedDict):
    contact: SendEmailResponseDataEmailsItemContact
    """The contact."""
    email: str
    """The ID of the email."""
    scheduledFor: NotRequired[Optional[str]]
    """With `scheduledFor` or `hold` only: when it is sent; null for now."""
    heldUntil: NotRequired[Optional[str]]
    """With `scheduledFor` or `hold` only: when it is sent unless it is cancelled before."""


class SendEmailResponseDataEmailsItemContact(TypedDict):
    """The contact."""
    id: str
    """Unique ID."""
    email: str
    """The ID of the email."""


class SmtpClient(TypedDict):
    ip: str
    """Where it connects from."""
    credential: Literal["secret", "key", "unknown"]
    """`secret`: the secret key. `key`: a key with scopes. `unknown`: it signs in with something that is not a key of the project."""
    key: Optional[str]
    """Name of the key with scopes; null when it was deleted."""
    lastAt: str
    """When it was last seen, to half a minute."""
    acceptedAt: Optional[str]
    """When its last message was accepted, to half a minute."""
    refusedAt: Optional[str]
    """When it was last refused."""
    refusal: Optional[str]
    """The last refusal, code first, without addresses."""


class StartCampaignDryRunRequest(TypedDict):
    sample: NotRequired[Union[Literal["all"], int]]
    """How many messages are rendered: `all`, or a number of them spread over the audience. Every contact is checked either way."""


class StartCampaignDryRunResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: CampaignDryRun
    """The data."""


class StartWorkflowExecutionRequest(TypedDict):
    contactId: str
    """The contact."""
    context: NotRequired[Any]
    """Data of the event that started the execution."""


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
        "opens": "float",
        "clicks": "float",
        "error": "Optional[str]",
        "recipientAddress": "str",
        "suppression": "SuppressionMatch",
        "createdAt": "str",
        "updatedAt": "str",
    },
)


class SuppressionRule(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""
    kind: Literal["ADDRESS", "DOMAIN", "PREFIX", "SUFFIX", "WILDCARD"]
    """What kind it is."""
    pattern: str
    """The pattern of the rule."""
    enabled: bool
    """Whether it is on."""
    projectId: str
    """The project."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""


class SuppressionRuleRequest(TypedDict):
    name: str
    """The name."""
    kind: Literal["ADDRESS", "DOMAIN", "PREFIX", "SUFFIX", "WILDCARD"]
    """What kind it is."""
    pattern: str
    """The pattern of the rule."""
    enabled: NotRequired[bool]
    """Default: `true`."""
    id: NotRequired[Any]
    """Unique ID."""
    projectId: NotRequired[Any]
    """The project."""
    createdAt: NotRequired[Any]
    """When it was created."""
    updatedAt: NotRequired[Any]
    """When it last changed."""


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
        "revision": "float",
        "projectId": "str",
        "createdAt": "str",
        "updatedAt": "str",
    },
)


class TemplatePage(TypedDict):
    data: List[Template]
    """The data."""
    page: float
    """The number of the page, from 1."""
    pageSize: float
    """How many items a page has."""
    total: float
    """How many there are."""
    totalPages: float
    """How many pages there are."""


class TestCampaignRequest(TypedDict):
    email: str
    """The email address."""
    previewContactId: NotRequired[Optional[str]]
    """The contact to fill the message in for; the one with the address of the test when absent."""
    asSent: NotRequired[bool]
    """Send exactly what recipients will get: filled in, with footer, headers and links. Its unsubscribe links change nobody."""


class TestWebhookEndpointRequest(TypedDict):
    type: NotRequired[str]
    """Default: `"test.event"`."""


class TestWebhookEndpointResponse(TypedDict):
    at: str
    """When it happened."""
    statusCode: Optional[float]
    """The HTTP status."""
    ms: float
    """How long it took, in milliseconds."""
    answer: Optional[str]
    """The first 4 KB of the answer."""
    error: Optional[str]
    """Why there was no answer."""
    delivered: bool
    """What was delivered."""
    webhookId: str
    """The `webhook-id` of the call, the same for every repetition."""


class TestWorkflowRequest(TypedDict):
    contactId: str
    """The contact to try it with."""
    data: NotRequired[Optional[Dict[str, Any]]]
    """The data of the event that starts it."""
    waits: NotRequired[Literal["EVENT", "TIMEOUT"]]
    """How every wait for an event ends: the event arrives at once, or never."""
    waitData: NotRequired[Optional[Dict[str, Any]]]
    """The data of the awaited events."""
    graph: NotRequired[TestWorkflowRequestGraph]
    """A graph that is not saved, as in `PUT /workflows/{id}/graph`; absent takes the saved one."""


class TestWorkflowRequestGraph(TypedDict):
    """A graph that is not saved, as in `PUT /workflows/{id}/graph`; absent takes the saved one."""
    steps: List[TestWorkflowRequestGraphStepsItem]
    """The steps, or how many there are."""
    transitions: List[CreateWorkflowTransitionRequest]
    """The paths between steps."""


class TestWorkflowRequestGraphStepsItem(TypedDict):
    id: str
    """Unique ID."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "CONDITION", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """The type."""
    name: str
    """The name."""
    position: TestWorkflowRequestGraphStepsItemPosition
    """Where it stands."""
    config: Dict[str, Any]
    """What the step does; which fields there are depends on its type."""
    templateId: NotRequired[Optional[str]]
    """The template; null without one."""
    note: NotRequired[Optional[str]]
    """For the people who edit the workflow; null or empty removes it."""


class TestWorkflowRequestGraphStepsItemPosition(TypedDict):
    """Where it stands."""
    x: float
    """Pixels from the left."""
    y: float
    """Pixels from the top."""


class TrackEventResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: TrackEventResponseData
    """The data."""


class TrackEventResponseData(TypedDict):
    """The data."""
    contact: str
    """The contact."""
    event: str
    """The ID of the event."""
    timestamp: str
    """When it happened."""


class UnarchiveCampaignResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: CampaignWithSegment
    """The data."""


class UndoImportRequest(TypedDict):
    dryRun: NotRequired[bool]
    """Only reports what would be done."""
    conflicts: NotRequired[Literal["keep", "restore"]]
    """What happens to fields that have changed since: kept, or restored as well."""


class UndoPreview(TypedDict):
    jobId: Optional[str]
    """The job, to ask for its progress."""
    deletes: float
    """Contacts that the job created and that have not changed since."""
    restores: float
    """Contacts whose fields or subscription go back, or that come back."""
    conflicts: List[UndoPreviewConflictsItem]
    """Fields that were changed since, with the number of contacts."""
    keeps: List[UndoPreviewKeepsItem]
    """Contacts or subscriptions that stay as they are, by reason."""


class UndoPreviewConflictsItem(TypedDict):
    key: str
    """The key of the stored file."""
    count: float
    """How many."""


class UndoPreviewKeepsItem(TypedDict):
    reason: str
    """Why."""
    count: float
    """How many."""


class UpdateBillingLimitsRequest(TypedDict):
    workflows: Optional[Union[float, str]]
    """The limit of workflow mail."""
    campaigns: Optional[Union[float, str]]
    """Campaigns, or what concerns them."""
    transactional: Optional[Union[float, str]]
    """The limit of transactional mail."""
    inbound: Optional[Union[float, str]]
    """The limit of received mail."""


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


class UpdateCampaignResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: Campaign
    """The data."""


class UpdateCampaignsRequest(TypedDict):
    ids: List[str]
    """The IDs."""
    delete: NotRequired[bool]
    """Delete them."""
    archived: NotRequired[bool]
    """Whether it is archived; lists leave archived ones out."""


UpdateCampaignsResponse: TypeAlias = "Union[UpdateCampaignsResponseValue, UpdateCampaignsResponseValue2]"


class UpdateCampaignsResponseValue(TypedDict):
    deleted: float
    """How many were deleted."""


class UpdateCampaignsResponseValue2(TypedDict):
    updated: float
    """How many were changed."""


class UpdateContactRequest(TypedDict):
    email: NotRequired[str]
    """The email address."""
    subscribed: NotRequired[bool]
    """Whether the contact gets marketing mail."""
    data: NotRequired[Optional[Dict[str, Any]]]
    """Free-form data, merged into what is there; `null` deletes a key."""
    reason: NotRequired[str]
    """Why the subscription changes; `data.reason` of the event `contact.subscribed` or `contact.unsubscribed`."""


class UpdateContactViewRequest(TypedDict):
    name: NotRequired[str]
    """The name."""
    filter: NotRequired[ContactFilter]
    """Which contacts: those that match."""
    sort: NotRequired[Literal["email", "createdAt", "updatedAt"]]
    """What to sort by."""
    dir: NotRequired[Literal["asc", "desc"]]
    """Direction of the sort."""
    columns: NotRequired[Optional[List[str]]]
    """Columns of the list in their order, or null."""


class UpdateEmailRequest(TypedDict):
    scheduledFor: str
    """ISO 8601 instant with an offset, at most 30 days ahead; one in the past means now."""


class UpdateProjectApiKeyResponse(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""
    prefix: str
    """How the key begins."""
    scopes: List[Literal["emails:send", "emails:read", "events:write", "contacts:read", "contacts:write", "contacts:erase", "templates", "campaigns:read", "campaigns:write", "campaigns:send", "workflows:read", "workflows:write", "webhooks", "explain", "audit"]]
    """What the key may do."""
    senderDomains: Optional[List[str]]
    """Domains that `from` may have; null for all verified ones."""
    recipients: Optional[UpdateProjectApiKeyResponseRecipients]
    """The recipients."""
    mcp: Optional[UpdateProjectApiKeyResponseMcp]
    """What the key allows a language model; null for reading only."""
    expiresAt: Optional[str]
    """When the key stops working; null for never."""
    overlapUntil: Optional[str]
    """Until when the key from before the last rotation works too."""
    lastUsedAt: Optional[str]
    """When it was last used, to five minutes; null for never."""
    createdBy: Optional[UpdateProjectApiKeyResponseCreatedBy]
    """Who created it; null when the account is gone."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""


class UpdateProjectApiKeyResponseRecipients(TypedDict):
    domains: List[str]
    """Domains."""
    addresses: List[str]
    """Email addresses."""


class UpdateProjectApiKeyResponseMcp(TypedDict):
    mode: Literal["read", "plan", "act"]
    """How it is evaluated: `binary` with two branches, or `multi`."""
    mostRecipients: NotRequired[int]
    """Default: `50`."""
    needsHuman: NotRequired[Literal["always", "above", "never"]]
    """Default: `"above"`."""


class UpdateProjectApiKeyResponseCreatedBy(TypedDict):
    id: str
    """Unique ID."""
    email: str
    """The email address."""


class UpdateProjectRequest(TypedDict):
    name: NotRequired[str]
    """The name."""
    tracking: NotRequired[Literal["ENABLED", "DISABLED", "MARKETING_ONLY"]]
    """Whether opens and clicks are tracked."""
    language: NotRequired[str]
    """The language of recipient pages and footers."""
    escapeContactData: NotRequired[bool]
    """Whether stored contact data is HTML-escaped in HTML."""
    hideSecretKey: NotRequired[bool]
    """Whether members do not see the secret key."""
    approvalAbove: NotRequired[Optional[int]]
    """A campaign of a member, or of a key with scopes, to more contacts than this needs the approval of an admin; null for none."""
    testAddresses: NotRequired[List[str]]
    """Addresses beside those of members that may get tests; the whole list, up to 20."""
    publicKeyMode: NotRequired[Literal["contract", "hardened"]]
    """`contract`: the public key shares the rate limit and the idempotency keys of the project. `hardened`: it has its own."""
    publicKeyRequestsPerMinute: NotRequired[int]
    """Requests a minute of the public key while it is `hardened`; never more than the limit of the project."""


class UpdateSavedBlockRequest(TypedDict):
    name: NotRequired[str]
    """The name."""
    content: NotRequired[List[Dict[str, Any]]]
    """The content."""


class UpdateSegmentRequest(TypedDict):
    name: NotRequired[str]
    """The name."""
    description: NotRequired[Optional[str]]
    """What it is for, in the words of its author."""
    condition: NotRequired[Optional[Condition]]
    """The condition tree."""
    trackMembership: NotRequired[bool]
    """Whether members are stored, and each entry and exit is an event."""


class UpdateSuppressionRuleResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""


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
    """The address."""
    description: NotRequired[Optional[str]]
    """What it is for, in the words of its author."""
    events: NotRequired[List[str]]
    """Which events: names, prefixes such as `contact.*`, or `*`."""
    payload: NotRequired[Literal["full", "thin"]]
    """What a call carries: the whole event (`full`), or what is needed to look it up (`thin`)."""
    ordered: NotRequired[bool]
    """Whether events are delivered one at a time, in order."""
    paused: NotRequired[bool]
    """`false` also enables an endpoint that was disabled; deliveries resume where they stopped."""


class UpdateWorkflowRequest(TypedDict):
    name: NotRequired[str]
    """The name."""
    description: NotRequired[Optional[str]]
    """What it is for, in the words of its author."""
    triggerType: NotRequired[Literal["EVENT", "MANUAL", "SCHEDULE"]]
    """What starts it: `EVENT`, `MANUAL` or `SCHEDULE`."""
    triggerConfig: NotRequired[Optional[Dict[str, Any]]]
    """What starts it: the event, or the schedule with its audience."""
    enabled: NotRequired[bool]
    """Whether it is on."""
    allowReentry: NotRequired[bool]
    """Whether a contact may enter again after leaving."""


class UpdateWorkflowStepRequest(TypedDict):
    name: NotRequired[str]
    """The name."""
    position: NotRequired[UpdateWorkflowStepRequestPosition]
    """Where it stands."""
    config: NotRequired[Dict[str, Any]]
    """What the step does; which fields there are depends on its type."""
    templateId: NotRequired[Optional[str]]
    """The template; null without one."""
    note: NotRequired[Optional[str]]
    """For the people who edit the workflow; null or empty removes it."""


class UpdateWorkflowStepRequestPosition(TypedDict):
    """Where it stands."""
    x: float
    """Pixels from the left."""
    y: float
    """Pixels from the top."""


class UploadedImage(TypedDict):
    url: str
    """The address."""
    key: str
    """The key of the stored file."""
    filename: str
    """The name of the file."""
    contentType: str
    """The media type, such as `image/png`."""
    size: float
    """The size in bytes."""


class UpsertContactRequest(TypedDict):
    email: str
    """The email address."""
    subscribed: NotRequired[bool]
    """Whether the contact gets marketing mail."""
    data: NotRequired[Optional[Dict[str, Any]]]
    """Free-form data, merged into what is there; `null` deletes a key."""


UpsertContactResponse = TypedDict(
    "UpsertContactResponse",
    {
        "id": "str",
        "email": "str",
        "subscribed": "bool",
        "data": "Dict[str, Any]",
        "dataOmitted": "NotRequired[bool]",
        "projectId": "str",
        "createdAt": "str",
        "updatedAt": "str",
        "_meta": "UpsertContactResponseMeta",
    },
)


class UpsertContactResponseMeta(TypedDict):
    """Whether the contact is new."""
    isNew: bool
    """Whether the contact was created."""
    isUpdate: bool
    """Whether the contact existed before."""


class VerifyAddressRequest(TypedDict):
    email: str
    """The email address."""


class VerifyAddressResponse(TypedDict):
    success: Literal[True]
    """Always `true`; failures have the form `Error`."""
    data: AddressVerification
    """The data."""


class WaitingPlan(TypedDict):
    id: str
    """Unique ID."""
    action: str
    """What was done, or what is to happen."""
    sentence: str
    """The same in words."""
    affects: float
    """How many contacts it reaches."""
    samples: List[str]
    """Messages as ten contacts would get them, those with something to look at first; none once the campaign was changed."""
    key: Optional[str]
    """Name of the key that made it; null when it was deleted."""
    expiresAt: str
    """When the key stops working; null for never."""
    createdAt: str
    """When it was created."""


class WebhookAttempt(TypedDict):
    at: str
    """When it happened."""
    statusCode: Optional[float]
    """The HTTP status."""
    ms: float
    """How long it took, in milliseconds."""
    answer: Optional[str]
    """The first 4 KB of the answer."""
    error: Optional[str]
    """Why there was no answer."""


class WebhookDeliveriesPage(TypedDict):
    data: List[WebhookDelivery]
    """The data."""
    cursor: Optional[str]
    """Pass it on to get the next page; null after the last one."""
    hasMore: bool
    """Whether there is another page. With `type` a page may be short or empty although there is one: continue with `cursor`."""


class WebhookDelivery(TypedDict):
    eventId: str
    """The event."""
    webhookId: str
    """The `webhook-id` of the call, the same for every repetition."""
    sequence: float
    """Counts the events of the endpoint, without a gap."""
    type: str
    """The type."""
    eventAt: str
    """When the event happened."""
    status: Literal["PENDING", "DELIVERED", "FAILED"]
    """The status."""
    attempts: float
    """How often it was tried."""
    nextAttemptAt: Optional[str]
    """When it is tried again; null when it is not."""


class WebhookDeliveryWithAttempts(TypedDict):
    eventId: str
    """The event."""
    webhookId: str
    """The `webhook-id` of the call, the same for every repetition."""
    sequence: float
    """Counts the events of the endpoint, without a gap."""
    type: str
    """The type."""
    eventAt: str
    """When the event happened."""
    status: Literal["PENDING", "DELIVERED", "FAILED"]
    """The status."""
    attempts: float
    """How often it was tried."""
    nextAttemptAt: Optional[str]
    """When it is tried again; null when it is not."""
    body: Optional[str]
    """What the endpoint is called with; null when the event was deleted."""
    log: List[WebhookAttempt]
    """The attempts, the latest first."""


class WebhookEndpoint(TypedDict):
    id: str
    """Unique ID."""
    url: str
    """The address."""
    description: Optional[str]
    """What it is for, in the words of its author."""
    events: List[str]
    """Which events: names, prefixes such as `contact.*`, or `*`."""
    payload: Literal["full", "thin"]
    """What a call carries: the whole event (`full`), or what is needed to look it up (`thin`)."""
    ordered: bool
    """Whether events are delivered one at a time, in order."""
    status: Literal["ENABLED", "PAUSED", "DISABLED"]
    """The status."""
    disabledReason: Optional[str]
    """Why it is disabled; null while it is not."""
    lastSequence: float
    """How many events were queued for this endpoint so far."""
    failingSince: Optional[str]
    """Since when every call fails; null while calls succeed."""
    restingUntil: Optional[str]
    """The endpoint asked to wait (429, 502, 503, 504 or Retry-After); it is called again after this."""
    health: NotRequired[List[WebhookEndpointHealthItem]]
    """With `include=health`: deliveries by the hour of their event in the last 24 hours, oldest first."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""


class WebhookEndpointHealthItem(TypedDict):
    at: str
    """When it happened."""
    delivered: float
    """What was delivered."""
    failed: float
    """How many failed."""
    pending: float
    """How many are pending."""


WebhookEndpointAudit = TypedDict(
    "WebhookEndpointAudit",
    {
        "from": "str",
        "until": "str",
        "events": "float",
        "delivered": "float",
        "failed": "float",
        "pending": "float",
        "addsUp": "bool",
        "firstSequence": "Optional[float]",
        "lastSequence": "Optional[float]",
    },
)


class WebhookEndpointWithSecret(TypedDict):
    id: str
    """Unique ID."""
    url: str
    """The address."""
    description: Optional[str]
    """What it is for, in the words of its author."""
    events: List[str]
    """Which events: names, prefixes such as `contact.*`, or `*`."""
    payload: Literal["full", "thin"]
    """What a call carries: the whole event (`full`), or what is needed to look it up (`thin`)."""
    ordered: bool
    """Whether events are delivered one at a time, in order."""
    status: Literal["ENABLED", "PAUSED", "DISABLED"]
    """The status."""
    disabledReason: Optional[str]
    """Why it is disabled; null while it is not."""
    lastSequence: float
    """How many events were queued for this endpoint so far."""
    failingSince: Optional[str]
    """Since when every call fails; null while calls succeed."""
    restingUntil: Optional[str]
    """The endpoint asked to wait (429, 502, 503, 504 or Retry-After); it is called again after this."""
    health: NotRequired[List[WebhookEndpointWithSecretHealthItem]]
    """With `include=health`: deliveries by the hour of their event in the last 24 hours, oldest first."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""
    secret: str
    """The secret key; null when it is hidden or cannot be decrypted."""


class WebhookEndpointWithSecretHealthItem(TypedDict):
    at: str
    """When it happened."""
    delivered: float
    """What was delivered."""
    failed: float
    """How many failed."""
    pending: float
    """How many are pending."""


class WebhookReplay(TypedDict):
    id: str
    """Unique ID."""
    since: str
    """From when on."""
    until: str
    """Up to when."""
    events: List[str]
    """The events."""
    only: Literal["failed", "all"]
    """Deliver `failed` or `all` events of the span."""
    status: Literal["RUNNING", "DONE"]
    """The status."""
    requeued: float
    """How many events were queued again so far."""
    createdAt: str
    """When it was created."""


class Workflow(TypedDict):
    id: str
    """Unique ID."""
    projectId: str
    """The project."""
    name: str
    """The name."""
    description: Optional[str]
    """What it is for, in the words of its author."""
    enabled: bool
    """Whether it is on."""
    triggerType: Literal["EVENT", "MANUAL", "SCHEDULE"]
    """What starts it: `EVENT`, `MANUAL` or `SCHEDULE`."""
    triggerConfig: Optional[Dict[str, Any]]
    """What starts it: the event, or the schedule with its audience."""
    allowReentry: bool
    """Whether a contact may enter again after leaving."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""


class WorkflowExecution(TypedDict):
    id: str
    """Unique ID."""
    workflowId: str
    """The workflow."""
    contactId: str
    """The contact."""
    status: Literal["RUNNING", "WAITING", "COMPLETED", "EXITED", "FAILED", "CANCELLED"]
    """The status."""
    currentStepId: Optional[str]
    """The step the contact is at; null after the end."""
    exitReason: Optional[str]
    """Why the contact left; null while inside."""
    context: Optional[Dict[str, Any]]
    """Data of the event that started the execution."""
    startedAt: str
    """When it began."""
    completedAt: Optional[str]
    """When it ended; null while it runs."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""


class WorkflowExecutionStory(TypedDict):
    id: str
    """Unique ID."""
    workflowId: str
    """The workflow."""
    contactId: str
    """The contact."""
    status: Literal["RUNNING", "WAITING", "COMPLETED", "EXITED", "FAILED", "CANCELLED"]
    """The status."""
    currentStepId: Optional[str]
    """The step the contact is at; null after the end."""
    exitReason: Optional[str]
    """Why the contact left; null while inside."""
    context: Optional[Dict[str, Any]]
    """Data of the event that started the execution."""
    startedAt: str
    """When it began."""
    completedAt: Optional[str]
    """When it ended; null while it runs."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""
    workflow: Workflow
    """The workflow."""
    contact: WorkflowExecutionStoryContact
    """The contact."""
    currentStep: Optional[WorkflowStep]
    """The step the contact is at."""
    stepExecutions: List[WorkflowStepExecution]
    """Every step the contact was at, in order."""
    waitingFor: Optional[str]
    """What the contact waits for; null when nothing."""
    waitingUntil: Optional[str]
    """Until when the contact waits at most."""
    waitingSince: Optional[str]
    """Since when the contact waits."""
    version: float
    """The number of the version."""
    nextVersion: Optional[float]
    """The version the contact goes on with at the next step."""
    temporal: WorkflowExecutionStoryTemporal
    """The execution in Temporal, with the address of its page."""


class WorkflowExecutionStoryContact(TypedDict):
    """The contact."""
    id: str
    """Unique ID."""
    email: str
    """The email address."""


class WorkflowStep(TypedDict):
    id: str
    """Unique ID."""
    workflowId: str
    """The workflow."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "CONDITION", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """The type."""
    name: str
    """The name."""
    position: WorkflowStepPosition
    """Where it stands."""
    config: WorkflowStepConfig
    """What the step does; which fields there are depends on its type."""
    templateId: Optional[str]
    """The template; null without one."""
    note: Optional[str]
    """A note for the people who edit the workflow."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""


class WorkflowStepPosition(TypedDict):
    """Where it stands."""
    x: float
    """Pixels from the left."""
    y: float
    """Pixels from the top."""


class WorkflowStepExecution(TypedDict):
    id: str
    """Unique ID."""
    executionId: str
    """The execution."""
    stepId: str
    """The step."""
    status: Literal["PENDING", "SCHEDULED", "WAITING", "RUNNING", "COMPLETED", "SKIPPED", "FAILED"]
    """The status."""
    scheduledFor: Optional[str]
    """When it is to be sent."""
    executeAfter: Optional[str]
    """When the step goes on."""
    input: Optional[Dict[str, Any]]
    """What the step got."""
    output: Optional[Dict[str, Any]]
    """What the step produced."""
    error: Optional[str]
    """What went wrong; null when nothing did."""
    startedAt: str
    """When it began."""
    completedAt: Optional[str]
    """When it ended; null while it runs."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it last changed."""
    durationMs: float
    """How long it took, in milliseconds."""
    step: WorkflowStepExecutionStep
    """The step."""


class WorkflowStepExecutionStep(TypedDict):
    """The step."""
    id: str
    """Unique ID."""
    name: str
    """The name."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "CONDITION", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """The type."""


class WorkflowExecutionStoryTemporal(TypedDict):
    """The execution in Temporal, with the address of its page."""
    workflowId: str
    """The workflow."""
    url: str
    """The address."""


class WorkflowTestRun(TypedDict):
    end: Literal["COMPLETED", "EXITED", "FAILED", "WAITING"]
    """When it ends."""
    reason: Optional[str]
    """Why it would end so; null for `COMPLETED`."""
    endsAt: Optional[str]
    """When the contact would leave; null if it would stay indefinitely."""
    steps: List[WorkflowTestRunStep]
    """The steps, or how many there are."""


class WorkflowTestRunStep(TypedDict):
    stepId: str
    """The ID of the step; of a new one, what the request calls it."""
    name: str
    """The name."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "CONDITION", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """The type."""
    at: str
    """When the contact would enter it."""
    outcome: Literal["COMPLETED", "SKIPPED", "FAILED", "WAITING"]
    """`SKIPPED`: an email that would not be sent to this contact. `WAITING`: an event that never comes, without a timeout."""
    output: Dict[str, Any]
    """What the step would do: the rendered subject, the values compared, the request, the new data."""
    error: Optional[str]
    """What went wrong; null when nothing did."""


class WorkflowVersion(TypedDict):
    version: float
    """The number of the version."""
    createdAt: str
    """When it was created."""
    isCurrent: bool
    """Whether it is the version that new contacts enter."""
    steps: List[WorkflowVersionStepsItem]
    """The steps, or how many there are."""
    transitions: List[WorkflowVersionTransitionsItem]
    """The paths between steps."""


class WorkflowVersionStepsItem(TypedDict):
    id: str
    """Unique ID."""
    type: Literal["TRIGGER", "SEND_EMAIL", "DELAY", "WAIT_FOR_EVENT", "CONDITION", "WEBHOOK", "UPDATE_CONTACT", "EXIT"]
    """The type."""
    name: str
    """The name."""
    config: WorkflowStepConfig
    """What the step does; which fields there are depends on its type."""
    templateId: Optional[str]
    """The template; null without one."""
    note: Optional[str]
    """A note for the people who edit the workflow."""
    position: Optional[WorkflowVersionStepsItemPosition]
    """Where it stands."""
    template: Optional[WorkflowVersionStepsItemTemplate]
    """The template that the step sends."""


class WorkflowVersionStepsItemPosition(TypedDict):
    x: float
    """Pixels from the left."""
    y: float
    """Pixels from the top."""


class WorkflowVersionStepsItemTemplate(TypedDict):
    id: str
    """Unique ID."""
    name: str
    """The name."""


class WorkflowVersionTransitionsItem(TypedDict):
    id: str
    """Unique ID."""
    fromStepId: str
    """The step that the path leaves."""
    toStepId: str
    """The step that it leads to."""
    branch: Optional[str]
    """The branch of a condition that this path is for; null for plain steps."""
    waitOutcome: Optional[Literal["EVENT", "TIMEOUT"]]
    """Which end of a wait the path is for: `EVENT` or `TIMEOUT`; null for both."""
    priority: float
    """The order among several."""


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
    """Items of a page; 20 when absent. Default: `20`."""
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
    """Direction of the sort. Default: `"desc"`."""


class GetContactQuery(TypedDict):
    at: NotRequired[str]
    """The contact as it was at this instant, such as `2026-11-01T12:00:00Z`; as it is when absent."""


class DeleteContactQuery(TypedDict):
    restorable: NotRequired[bool]
    """Whether the contact can be restored for 7 days; `false` when absent."""


class ListContactHistoryQuery(TypedDict):
    limit: NotRequired[int]
    """Items of a page; 50 when absent. Default: `50`."""
    cursor: NotRequired[str]
    """`cursor` of the page before, unchanged; the first page when absent or empty."""


class ListContactEventsQuery(TypedDict):
    limit: NotRequired[int]
    """Items of a page; 50 when absent. Default: `50`."""


class ListSegmentContactsQuery(TypedDict):
    page: NotRequired[int]
    """Number of the page, from 1 on. Default: `1`."""
    pageSize: NotRequired[int]
    """Items of a page; 20 when absent. Default: `20`."""


class ListEventsQuery(TypedDict):
    eventName: NotRequired[str]
    """Events of this name; all when absent."""
    limit: NotRequired[int]
    """Items of a page; 100 when absent. Default: `100`."""


class GetEventStatsQuery(TypedDict):
    startDate: NotRequired[str]
    """First day or instant; without a bound when absent."""
    endDate: NotRequired[str]
    """Last day or instant; without a bound when absent."""


class GetEventStatsResponseItem(TypedDict):
    name: str
    """The name."""
    count: float
    """How many."""


class ListSuppressedEmailsQuery(TypedDict):
    limit: NotRequired[int]
    """Items of a page; 20 when absent. Default: `20`."""
    cursor: NotRequired[str]
    """`cursor` of the page before, unchanged; the first page when absent or empty."""


class ListContactJobsQuery(TypedDict):
    limit: NotRequired[int]
    """Items of a page; 20 when absent. Default: `20`."""
    cursor: NotRequired[str]
    """`cursor` of the page before, unchanged; the first page when absent or empty."""


class ListErasuresQuery(TypedDict):
    limit: NotRequired[int]
    """Items of a page; 20 when absent. Default: `20`."""
    cursor: NotRequired[str]
    """`cursor` of the page before, unchanged; the first page when absent or empty."""


class ListTemplatesQuery(TypedDict):
    page: NotRequired[int]
    """Number of the page, from 1 on. Default: `1`."""
    pageSize: NotRequired[int]
    """Items of a page; 20 when absent. Default: `20`."""
    type: NotRequired[Literal["TRANSACTIONAL", "MARKETING", "HEADLESS"]]
    """All when absent."""
    search: NotRequired[str]
    """Text in name, description or subject, in any letter case."""
    sort: NotRequired[Literal["name", "subject", "type", "createdAt", "updatedAt"]]
    """What to sort by. Default: `"createdAt"`."""
    dir: NotRequired[Literal["asc", "desc"]]
    """Direction of the sort. Default: `"desc"`."""


class ListCampaignsQuery(TypedDict):
    page: NotRequired[int]
    """Number of the page, from 1 on. Default: `1`."""
    pageSize: NotRequired[int]
    """Items of a page; 20 when absent. Default: `20`."""
    status: NotRequired[Literal["DRAFT", "SCHEDULED", "SENDING", "SENT", "CANCELLED"]]
    """All when absent."""
    search: NotRequired[str]
    """Text in name, subject or sender, in any letter case."""
    archived: NotRequired[bool]
    """`true` lists the archive; otherwise it is left out. Default: `false`."""
    sort: NotRequired[Literal["name", "subject", "status", "scheduledFor", "sentAt", "createdAt", "updatedAt"]]
    """What to sort by. Default: `"createdAt"`."""
    dir: NotRequired[Literal["asc", "desc"]]
    """Direction of the sort. Default: `"desc"`."""


class ListCampaignRecipientsQuery(TypedDict):
    type: NotRequired[Literal["bounced", "complained"]]
    """Recipients whose email bounced or was reported as spam, in place of the ledger."""
    verdict: NotRequired[Literal["handed_over", "skipped", "failed", "unknown", "pending", "all"]]
    """The whole ledger when absent. Default: `"all"`."""
    format: NotRequired[Literal["csv"]]
    """A file of all rows, whatever `limit` and `cursor` say."""
    limit: NotRequired[int]
    """Items of a page; 50 when absent. Default: `50`."""
    cursor: NotRequired[str]
    """`cursor` of the page before, unchanged; the first page when absent or empty."""


class ListWorkflowsQuery(TypedDict):
    page: NotRequired[int]
    """Number of the page, from 1 on. Default: `1`."""
    pageSize: NotRequired[int]
    """Items of a page; 20 when absent. Default: `20`."""
    limit: NotRequired[int]
    """Another name of `pageSize`."""
    cursor: NotRequired[str]
    """`cursor` of the page before, unchanged; the first page when absent or empty."""
    search: NotRequired[str]
    """Text in name or description, in any letter case."""
    status: NotRequired[Literal["enabled", "disabled"]]
    """All when absent."""
    sort: NotRequired[Literal["name", "createdAt", "updatedAt", "steps"]]
    """What to sort by. Default: `"createdAt"`."""
    dir: NotRequired[Literal["asc", "desc"]]
    """Direction of the sort. Default: `"desc"`."""


class ListWorkflowVersionsQuery(TypedDict):
    page: NotRequired[int]
    """Number of the page, from 1 on. Default: `1`."""
    pageSize: NotRequired[int]
    """Items of a page; 20 when absent. Default: `20`."""


class ListWorkflowExecutionsQuery(TypedDict):
    page: NotRequired[int]
    """Number of the page, from 1 on. Default: `1`."""
    pageSize: NotRequired[int]
    """Items of a page; 20 when absent. Default: `20`."""
    status: NotRequired[str]
    """Statuses, separated by commas; all when absent."""
    contactId: NotRequired[str]
    """Executions of this contact."""
    stepId: NotRequired[str]
    """Active executions that are at this step."""


class CountWorkflowContactsQuery(TypedDict):
    days: NotRequired[int]
    """Counts the paths of contacts that reached a step in this many last days; all time when absent."""


class ListWebhookEndpointsQuery(TypedDict):
    include: NotRequired[Literal["health"]]
    """`body` adds the HTML and the text part."""


class ListWebhookEndpointDeliveriesQuery(TypedDict):
    status: NotRequired[Literal["PENDING", "DELIVERED", "FAILED"]]
    """The status."""
    type: NotRequired[str]
    """The name of an event, `contact.*` for all that start with `contact.`, or `*` for every event."""
    limit: NotRequired[int]
    """Items of a page; 20 when absent. Default: `20`."""
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
SentEmail: TypeAlias = "SendEmailResponseDataEmailsItem"
#: The outcome of an item of `send_batch`.
BatchOutcome: TypeAlias = "SendEmailBatchResponseDataResultsItem"
