"""The methods of the client."""

# Written by generate-types.ts.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, Dict, List, Literal, Optional, Union

from ._client import Client, Resource
from ._pages import Page

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import types
    from ._http import CallOptions, ClientOptions


class Emails(Resource):
    def list(self, query: Optional[types.ListEmailsQuery] = None, **options: Unpack[CallOptions]) -> Page[types.EmailSummary]:
        """List emails. Everything sent or to be sent, in any way, newest first. Name `contactId`, `to` or `tag`, or a span of at most 31 days with `from`. Needs the secret key. Keys with scopes need `emails:read`."""
        return self._client.pages("listEmails", query=query, **options)

    def get(self, id: str, query: Optional[types.GetEmailQuery] = None, **options: Unpack[CallOptions]) -> types.Email:
        """Get an email with what happened to it. Needs the secret key. Keys with scopes need `emails:read`."""
        result: types.Email = self._client.call("getEmail", path={"id": id}, query=query, **options)
        return result

    def reschedule(self, id: str, scheduled_for: str, **options: Unpack[CallOptions]) -> types.Email:
        """Reschedule an email. As long as sending has not started; 409 `EMAIL_LEFT` with its `status` after that. Needs the secret key. Keys with scopes need `emails:send`."""
        result: types.Email = self._client.call("updateEmail", path={"id": id}, body={"scheduledFor": scheduled_for}, **options)
        return result

    def cancel(self, id: str, **options: Unpack[CallOptions]) -> types.Email:
        """Cancel an email. As long as sending has not started; 409 `EMAIL_LEFT` with its `status` after that. Needs the secret key. Keys with scopes need `emails:send`."""
        result: types.Email = self._client.call("cancelEmail", path={"id": id}, **options)
        return result

    def release(self, id: str, **options: Unpack[CallOptions]) -> types.Email:
        """Send a held or scheduled email now. As long as sending has not started; 409 `EMAIL_LEFT` with its `status` after that. Needs the secret key. Keys with scopes need `emails:send`."""
        result: types.Email = self._client.call("releaseEmail", path={"id": id}, **options)
        return result

    def resend(self, id: str, body: Optional[types.ResendEmailRequest] = None, **options: Unpack[CallOptions]) -> types.Email:
        """Send a failed email again. The content that was accepted goes out as a new email, which is answered and points to the first with `resendOf`. Consent, suppression rules, the sender and the monthly limit are checked again. 409 `EMAIL_NOT_FAILED` for any other email, `EMAIL_RESENT` for one that was resent before unless the request has an `Idempotency-Key` of its own, `OUTCOME_UNKNOWN` for one that may have arrived unless `evenIfItArrived` is true, `EMAIL_CONTENT_GONE` when its content was emptied after `EMAIL_BODY_RETENTION_DAYS`, or its attachments exceeded the 1 GB that a project keeps of failed mail. Needs the secret key. Keys with scopes need `emails:send`."""
        result: types.Email = self._client.call("resendEmail", path={"id": id}, body=body, **options)
        return result

    def export(self, body: Optional[types.ExportEmailsRequest] = None, **options: Unpack[CallOptions]) -> str:
        """Export emails as CSV. A file of the emails that match these filters, newest first. Name `contactId`, `to` or `tag`, or a span of at most 31 days with `from`. The audit log notes it. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `emails:read`."""
        result: str = self._client.call("exportEmails", body=body, **options)
        return result


class Contacts(Resource):
    def list(self, query: Optional[types.ListContactsQuery] = None, **options: Unpack[CallOptions]) -> Page[types.Contact]:
        """List contacts. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        return self._client.pages("listContacts", query=query, **options)

    def get(self, id: str, query: Optional[types.GetContactQuery] = None, **options: Unpack[CallOptions]) -> types.Contact:
        """Get a contact. With `at` as it was then: 404 when it was created later, 410 `TOO_LATE` when that is older than CONTACT_HISTORY_DAYS. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        result: types.Contact = self._client.call("getContact", path={"id": id}, query=query, **options)
        return result

    def upsert(self, body: types.UpsertContactRequest, **options: Unpack[CallOptions]) -> types.UpsertContactResult:
        """Create or update a contact by address. 201 when the contact is new, 200 when it existed. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:write`."""
        result: types.UpsertContactResult = self._client.call("upsertContact", body=body, **options)
        return result

    def update(self, id: str, body: Optional[types.UpdateContactRequest] = None, **options: Unpack[CallOptions]) -> types.Contact:
        """Update a contact. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:write`."""
        result: types.Contact = self._client.call("updateContact", path={"id": id}, body=body, **options)
        return result

    def delete(self, id: str, query: Optional[types.DeleteContactQuery] = None, **options: Unpack[CallOptions]) -> None:
        """Delete a contact with its events and emails. Permanently: at once, or with `restorable=true` after 7 days. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:write`."""
        self._client.call("deleteContact", path={"id": id}, query=query, **options)

    def lookup(self, body: types.LookupContactsRequest, **options: Unpack[CallOptions]) -> types.LookupContactsResult:
        """Look up which addresses are contacts. Takes 1 to 500 addresses and returns them in the spelling and order of the request. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        result: types.LookupContactsResult = self._client.call("lookupContacts", body=body, **options)
        return result

    def search(self, body: Optional[types.SearchContactsRequest] = None, **options: Unpack[CallOptions]) -> Page[types.Contact]:
        """Search contacts by any field. A page of the contacts that match a filter, whose condition is a tree as segments have it. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        return self._client.pages("searchContacts", body=body, **options)

    def get_holdout(self, id: str, **options: Unpack[CallOptions]) -> types.GetContactHoldoutResult:
        """Get whether a contact is in the control group. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        result: types.GetContactHoldoutResult = self._client.call("getContactHoldout", path={"id": id}, **options)
        return result

    def export(self, body: Optional[types.ExportContactsRequest] = None, **options: Unpack[CallOptions]) -> str:
        """Export contacts as CSV. A file of the contacts that a filter leaves, with the columns you name. The audit log notes it. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        result: str = self._client.call("exportContacts", body=body, **options)
        return result

    def import_(self, file: Union[bytes, BinaryIO], fields: Optional[Dict[str, str]] = None, **options: Unpack[CallOptions]) -> types.QueuedJob:
        """Import contacts from a CSV file. Multipart, part `file`, UTF-8, at most 5 MB, with a header row and a column `email`. The part `mapping` is JSON that says what each column is for: `{"Full name": "data.name", "Score": {"field": "data.score", "type": "number"}, "Notes": null}`. With the part `matchFields=true`, a column that is not named there and differs from an existing field in case, spaces and underscores only becomes that field, and a new one keeps its case; without it, names are lower-cased. With `subscribeNew=false`, new contacts are subscribed only if their row says so. The text `consentSource`, of at most 200 characters, becomes the contact field of that name of the contacts that the import subscribes, new or not. The contacts join the STATIC segment `segmentId`, or a new one `segmentName`. Returns at once; get the job to see its progress. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:write`."""
        result: types.QueuedJob = self._client.call("importContacts", file=file, fields=fields, **options)
        return result

    def subscribe(self, body: Optional[types.BulkSelection] = None, **options: Unpack[CallOptions]) -> types.QueuedJob:
        """Subscribe many contacts. Takes 1 to 1,000 IDs, or a filter. Returns at once; get the job to see its progress. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:write`."""
        result: types.QueuedJob = self._client.call("subscribeContacts", body=body, **options)
        return result

    def unsubscribe(self, body: Optional[types.BulkSelection] = None, **options: Unpack[CallOptions]) -> types.QueuedJob:
        """Unsubscribe many contacts. Takes 1 to 1,000 IDs, or a filter. Returns at once; get the job to see its progress. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:write`."""
        result: types.QueuedJob = self._client.call("unsubscribeContacts", body=body, **options)
        return result

    def delete_many(self, body: Optional[types.BulkSelection] = None, **options: Unpack[CallOptions]) -> types.QueuedJob:
        """Delete many contacts. Takes 1 to 1,000 IDs, or a filter. Returns at once; get the job to see its progress. Can be undone for 7 days; then the contacts are deleted permanently, with their events and emails. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:write`."""
        result: types.QueuedJob = self._client.call("deleteContacts", body=body, **options)
        return result

    def list_history(self, id: str, query: Optional[types.ListContactHistoryQuery] = None, **options: Unpack[CallOptions]) -> Page[types.ContactChange]:
        """List changes of a contact. Newest first, each with what changed and why. Kept for CONTACT_HISTORY_DAYS. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        return self._client.pages("listContactHistory", path={"id": id}, query=query, **options)

    def list_events(self, id: str, query: Optional[types.ListContactEventsQuery] = None, **options: Unpack[CallOptions]) -> Page[types.Event]:
        """List the events of a contact. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        return self._client.pages("listContactEvents", path={"contactId": id}, query=query, **options)

    def list_segments(self, id: str, **options: Unpack[CallOptions]) -> Page[types.ListContactSegmentsResultDataItem]:
        """List the segments of a contact. Those that it is in now, static and dynamic. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        return self._client.pages("listContactSegments", path={"id": id}, **options)

    def dossier(self, id: str, **options: Unpack[CallOptions]) -> types.ContactExport:
        """Export everything known about a contact. A JSON file: the contact, its history, events, mail with what is stored of its bodies, segments, executions of workflows, and the imports and bulk changes that touched it. Articles 15 and 20 of the GDPR ask for it. 10 a minute for each project. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        result: types.ContactExport = self._client.call("exportContact", path={"id": id}, **options)
        return result

    def erase(self, id: str, body: Optional[types.EraseContactRequest] = None, **options: Unpack[CallOptions]) -> types.Erasure:
        """Erase a contact. Deletes the contact and empties everything that is stored of it, for good, in the background. Counts in campaigns stay. Asking again returns the same erasure and notes another `reference` in the audit log; follow it with `GET /erasures/{id}`, which has the signed certificate in the end. Needs the secret key, or a session with `X-Project-Id`. Sessions need the role ADMIN. Keys with scopes need `contacts:erase`."""
        result: types.Erasure = self._client.call("eraseContact", path={"id": id}, body=body, **options)
        return result


class Segments(Resource):
    def list(self, **options: Unpack[CallOptions]) -> Page[types.Segment]:
        """List segments. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        return self._client.pages("listSegments", **options)

    def get(self, id: str, **options: Unpack[CallOptions]) -> types.Segment:
        """Get a segment. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        result: types.Segment = self._client.call("getSegment", path={"id": id}, **options)
        return result

    def create(self, body: types.CreateSegmentRequest, **options: Unpack[CallOptions]) -> types.Segment:
        """Create a segment. A DYNAMIC segment needs a condition tree; a STATIC one has the members you add. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:write`."""
        result: types.Segment = self._client.call("createSegment", body=body, **options)
        return result

    def update(self, id: str, body: Optional[types.UpdateSegmentRequest] = None, **options: Unpack[CallOptions]) -> types.Segment:
        """Update a segment. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:write`."""
        result: types.Segment = self._client.call("updateSegment", path={"id": id}, body=body, **options)
        return result

    def delete(self, id: str, **options: Unpack[CallOptions]) -> None:
        """Delete a segment. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:write`."""
        self._client.call("deleteSegment", path={"id": id}, **options)

    def preview(self, body: Optional[types.PreviewSegmentRequest] = None, **options: Unpack[CallOptions]) -> types.PreviewSegmentResult:
        """Preview a condition. Returns how many contacts match a condition tree now, and the ten newest or as many as `limit` says. Nothing is stored. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        result: types.PreviewSegmentResult = self._client.call("previewSegment", body=body, **options)
        return result

    def list_contacts(self, id: str, query: Optional[types.ListSegmentContactsQuery] = None, **options: Unpack[CallOptions]) -> Page[types.Contact]:
        """List the contacts of a segment. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        return self._client.pages("listSegmentContacts", path={"id": id}, query=query, **options)

    def add_members(self, id: str, body: types.AddSegmentMembersRequest, **options: Unpack[CallOptions]) -> types.AddSegmentMembersResult:
        """Add contacts to a STATIC segment. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:write`."""
        result: types.AddSegmentMembersResult = self._client.call("addSegmentMembers", path={"id": id}, body=body, **options)
        return result

    def remove_members(self, id: str, body: types.RemoveSegmentMembersRequest, **options: Unpack[CallOptions]) -> types.RemoveSegmentMembersResult:
        """Remove contacts from a STATIC segment. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:write`."""
        result: types.RemoveSegmentMembersResult = self._client.call("removeSegmentMembers", path={"id": id}, body=body, **options)
        return result


class Events(Resource):
    def list(self, query: Optional[types.ListEventsQuery] = None, **options: Unpack[CallOptions]) -> Page[types.ListEventsResultEventsItem]:
        """List events. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        return self._client.pages("listEvents", query=query, **options)

    def record(self, body: types.EventToRecord, **options: Unpack[CallOptions]) -> types.Event:
        """Record an event. For a contact by `contactId` (without changing its data), for no contact, or with the body of `POST /v1/track`. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `events:write`."""
        result: types.Event = self._client.call("recordEvent", body=body, **options)
        return result

    def list_names(self, **options: Unpack[CallOptions]) -> Page[str]:
        """List event names. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        return self._client.pages("listEventNames", **options)

    def stats(self, query: Optional[types.GetEventStatsQuery] = None, **options: Unpack[CallOptions]) -> List[types.GetEventStatsResponseItem]:
        """Count events by name. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        result: List[types.GetEventStatsResponseItem] = self._client.call("getEventStats", query=query, **options)
        return result

    def usage(self, name: str, **options: Unpack[CallOptions]) -> types.EventUsage:
        """Get what uses an event. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        result: types.EventUsage = self._client.call("getEventUsage", path={"eventName": name}, **options)
        return result

    def delete(self, name: str, **options: Unpack[CallOptions]) -> types.DeleteEventsResult:
        """Delete every event of a name. Names that a segment or workflow uses, and those of the service itself, cannot be deleted. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:write`."""
        result: types.DeleteEventsResult = self._client.call("deleteEvents", path={"eventName": name}, **options)
        return result


class Suppressions(Resource):
    def list(self, **options: Unpack[CallOptions]) -> Page[types.SuppressionRule]:
        """List suppression rules. Needs the secret key, or a session with `X-Project-Id`."""
        return self._client.pages("listSuppressionRules", **options)

    def create(self, body: types.SuppressionRuleRequest, **options: Unpack[CallOptions]) -> types.SuppressionRule:
        """Create a suppression rule. Email to an address that an enabled rule matches is stored, but never sent. Needs the secret key, or a session with `X-Project-Id`."""
        result: types.SuppressionRule = self._client.call("createSuppressionRule", body=body, **options)
        return result

    def update(self, id: str, body: types.SuppressionRuleRequest, **options: Unpack[CallOptions]) -> types.UpdateSuppressionRuleResult:
        """Replace a suppression rule. Needs the secret key, or a session with `X-Project-Id`."""
        result: types.UpdateSuppressionRuleResult = self._client.call("updateSuppressionRule", path={"id": id}, body=body, **options)
        return result

    def delete(self, id: str, **options: Unpack[CallOptions]) -> None:
        """Delete a suppression rule. Emails that it suppressed are not sent afterwards, and still name the rule. Needs the secret key, or a session with `X-Project-Id`."""
        self._client.call("deleteSuppressionRule", path={"id": id}, **options)

    def preview(self, body: types.PreviewSuppressionRulesRequest, **options: Unpack[CallOptions]) -> types.PreviewSuppressionRulesResult:
        """Preview which rule matches an address. Needs the secret key, or a session with `X-Project-Id`."""
        result: types.PreviewSuppressionRulesResult = self._client.call("previewSuppressionRules", body=body, **options)
        return result

    def list_emails(self, query: Optional[types.ListSuppressedEmailsQuery] = None, **options: Unpack[CallOptions]) -> Page[types.ListSuppressedEmailsResultEmailsItem]:
        """List suppressed mail. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `emails:read`."""
        return self._client.pages("listSuppressedEmails", query=query, **options)

    def get_email(self, id: str, **options: Unpack[CallOptions]) -> types.SuppressedEmail:
        """Get a suppressed mail. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `emails:read`."""
        result: types.SuppressedEmail = self._client.call("getSuppressedEmail", path={"id": id}, **options)
        return result


class Jobs(Resource):
    def list(self, query: Optional[types.ListContactJobsQuery] = None, **options: Unpack[CallOptions]) -> Page[types.ContactJob]:
        """List imports and bulk jobs. Newest first, each with what it did and until when it can be undone. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        return self._client.pages("listContactJobs", query=query, **options)

    def get(self, id: str, **options: Unpack[CallOptions]) -> types.BulkJob:
        """Get a bulk job. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        result: types.BulkJob = self._client.call("getBulkJob", path={"jobId": id}, **options)
        return result

    def get_import(self, id: str, **options: Unpack[CallOptions]) -> types.ImportJob:
        """Get an import. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        result: types.ImportJob = self._client.call("getContactImport", path={"jobId": id}, **options)
        return result

    def undo(self, id: str, body: Optional[types.UndoImportRequest] = None, **options: Unpack[CallOptions]) -> types.UndoPreview:
        """Undo a bulk change. Restores fields that still have the value of the job, deletes contacts it created and that nothing happened to, takes subscriptions back, and brings back contacts that it deleted. 200 for a dry run; otherwise 202 with a bulk job, which can be undone itself. 409 `PREVIEW_UNFINISHED` when counting what it would do takes longer than 10 seconds: send the same request again, which goes on from there. 410 `TOO_LATE` after CONTACT_HISTORY_DAYS, of a bulk delete after 7 days. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:write`."""
        result: types.UndoPreview = self._client.call("undoBulkJob", path={"jobId": id}, body=body, **options)
        return result

    def undo_import(self, id: str, body: Optional[types.UndoImportRequest] = None, **options: Unpack[CallOptions]) -> types.UndoPreview:
        """Undo an import. Restores fields that still have the value of the job, deletes contacts it created and that nothing happened to, takes subscriptions back, and brings back contacts that it deleted. 200 for a dry run; otherwise 202 with a bulk job, which can be undone itself. 409 `PREVIEW_UNFINISHED` when counting what it would do takes longer than 10 seconds: send the same request again, which goes on from there. 410 `TOO_LATE` after CONTACT_HISTORY_DAYS, of a bulk delete after 7 days. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:write`."""
        result: types.UndoPreview = self._client.call("undoImport", path={"jobId": id}, body=body, **options)
        return result

    def wait(self, id: str, *, every: float = 1.0, **options: Unpack[CallOptions]) -> types.BulkJob:
        """The bulk change when it has ended: its `state` is `completed` or `failed`."""
        return self._client.poll(lambda: self.get(id, **options), lambda value: bool(value["state"] in ("completed", "failed")), every)

    def wait_for_import(self, id: str, *, every: float = 1.0, **options: Unpack[CallOptions]) -> types.ImportJob:
        """The import when it has ended: its `state` is `completed` or `failed`."""
        return self._client.poll(lambda: self.get_import(id, **options), lambda value: bool(value["state"] in ("completed", "failed")), every)


class Erasures(Resource):
    def list(self, query: Optional[types.ListErasuresQuery] = None, **options: Unpack[CallOptions]) -> Page[types.Erasure]:
        """List erasures. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        return self._client.pages("listErasures", query=query, **options)

    def get(self, id: str, **options: Unpack[CallOptions]) -> types.Erasure:
        """Get an erasure with its certificate. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `contacts:read`."""
        result: types.Erasure = self._client.call("getErasure", path={"id": id}, **options)
        return result

    def wait(self, id: str, *, every: float = 1.0, **options: Unpack[CallOptions]) -> types.Erasure:
        """The erasure when nothing is left in the service. What other systems keep expires later: its `status` is then `WAITING`."""
        return self._client.poll(lambda: self.get(id, **options), lambda value: bool(value["status"] != "RUNNING"), every)


class Templates(Resource):
    def list(self, query: Optional[types.ListTemplatesQuery] = None, **options: Unpack[CallOptions]) -> Page[types.Template]:
        """List templates. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `templates`."""
        return self._client.pages("listTemplates", query=query, **options)

    def get(self, id: str, **options: Unpack[CallOptions]) -> types.Template:
        """Get a template. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `templates`."""
        result: types.Template = self._client.call("getTemplate", path={"id": id}, **options)
        return result

    def create(self, body: types.CreateTemplateRequest, **options: Unpack[CallOptions]) -> types.Template:
        """Create a template. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `templates`."""
        result: types.Template = self._client.call("createTemplate", body=body, **options)
        return result

    def update(self, id: str, body: Optional[types.UpdateTemplateRequest] = None, **options: Unpack[CallOptions]) -> types.Template:
        """Update a template. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `templates`."""
        result: types.Template = self._client.call("updateTemplate", path={"id": id}, body=body, **options)
        return result

    def delete(self, id: str, **options: Unpack[CallOptions]) -> None:
        """Delete a template. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `templates`."""
        self._client.call("deleteTemplate", path={"id": id}, **options)

    def duplicate(self, id: str, **options: Unpack[CallOptions]) -> types.Template:
        """Duplicate a template. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `templates`."""
        result: types.Template = self._client.call("duplicateTemplate", path={"id": id}, **options)
        return result

    def preview(self, body: types.PreviewTemplateRequest, **options: Unpack[CallOptions]) -> types.PreviewTemplateResult:
        """Preview content as a recipient would see it. Renders content without saving it: for a contact, with the values of `data` as `POST /v1/send` takes them, or with both. With neither, placeholders stay as they are. Sends and stores nothing. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `templates`."""
        result: types.PreviewTemplateResult = self._client.call("previewTemplate", body=body, **options)
        return result

    def test(self, id: str, body: types.TestCampaignRequest, **options: Unpack[CallOptions]) -> types.DeleteCampaignResult:
        """Send a test of a template to a member or a test address. Sent at once, without entries in ledger, events or counters. By default without footer, and filled in only if the address is a contact; see `asSent`. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `templates`."""
        result: types.DeleteCampaignResult = self._client.call("testTemplate", path={"id": id}, body=body, **options)
        return result

    def list_versions(self, id: str, **options: Unpack[CallOptions]) -> Page[types.ContentVersion]:
        """List the versions of a template. Newest first. Every save that changes something makes one; of more than 100, those that their author replaced within ten minutes go first, then the oldest. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `templates`."""
        return self._client.pages("listTemplateVersions", path={"id": id}, **options)


class Campaigns(Resource):
    def list(self, query: Optional[types.ListCampaignsQuery] = None, **options: Unpack[CallOptions]) -> Page[types.CampaignWithSegment]:
        """List campaigns. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:read`."""
        return self._client.pages("listCampaigns", query=query, **options)

    def get(self, id: str, **options: Unpack[CallOptions]) -> types.CampaignWithSegment:
        """Get a campaign. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:read`."""
        result: types.CampaignWithSegment = (self._client.call("getCampaign", path={"id": id}, **options))["data"]
        return result

    def create(self, body: types.CreateCampaignRequest, **options: Unpack[CallOptions]) -> types.Campaign:
        """Create a campaign. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:write`."""
        result: types.Campaign = (self._client.call("createCampaign", body=body, **options))["data"]
        return result

    def update(self, id: str, body: Optional[types.UpdateCampaignRequest] = None, **options: Unpack[CallOptions]) -> types.Campaign:
        """Update a campaign that is not being sent. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:write`."""
        result: types.Campaign = (self._client.call("updateCampaign", path={"id": id}, body=body, **options))["data"]
        return result

    def delete(self, id: str, **options: Unpack[CallOptions]) -> types.DeleteCampaignResult:
        """Delete a draft. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:write`."""
        result: types.DeleteCampaignResult = self._client.call("deleteCampaign", path={"id": id}, **options)
        return result

    def duplicate(self, id: str, **options: Unpack[CallOptions]) -> types.Campaign:
        """Duplicate a campaign as a draft. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:write`."""
        result: types.Campaign = (self._client.call("duplicateCampaign", path={"id": id}, **options))["data"]
        return result

    def send(self, id: str, body: Optional[types.SendCampaignRequest] = None, **options: Unpack[CallOptions]) -> types.CampaignWithSegment:
        """Send or schedule a campaign. Returns before any mail is sent; the stats show the progress. A scheduled campaign is rescheduled. With `canary`, only a first slice is sent; everyone else follows after the hold unless a limit is exceeded. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:send`."""
        result: types.CampaignWithSegment = (self._client.call("sendCampaign", path={"id": id}, body=body, **options))["data"]
        return result

    def schedule(self, id: str, scheduled_for: str, **options: Unpack[CallOptions]) -> types.CampaignWithSegment:
        """Sends it at a time, an ISO 8601 instant."""
        result: types.CampaignWithSegment = (self._client.call("sendCampaign", path={"id": id}, body={"scheduledFor": scheduled_for}, **options))["data"]
        return result

    def cancel(self, id: str, **options: Unpack[CallOptions]) -> types.Campaign:
        """Cancel a campaign that is scheduled or being sent. Stops sending to the remaining recipients. Returns to draft if nothing was sent. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:send`."""
        result: types.Campaign = (self._client.call("cancelCampaign", path={"id": id}, **options))["data"]
        return result

    def pause(self, id: str, **options: Unpack[CallOptions]) -> types.CampaignWithSegment:
        """Pause a campaign that is being sent. Nothing more is sent until it is resumed. Safe to repeat. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:send`."""
        result: types.CampaignWithSegment = (self._client.call("pauseCampaign", path={"id": id}, **options))["data"]
        return result

    def resume(self, id: str, **options: Unpack[CallOptions]) -> types.CampaignWithSegment:
        """Resume a paused campaign. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:send`."""
        result: types.CampaignWithSegment = (self._client.call("resumeCampaign", path={"id": id}, **options))["data"]
        return result

    def resend(self, id: str, **options: Unpack[CallOptions]) -> types.CampaignWithSegment:
        """Resend to the recipients a campaign missed. Creates and starts a copy for the recipients who were skipped or failed and can receive email now. No recipient gets the campaign twice. One resend for each send. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:send`."""
        result: types.CampaignWithSegment = (self._client.call("resendCampaign", path={"id": id}, **options))["data"]
        return result

    def archive(self, id: str, **options: Unpack[CallOptions]) -> types.CampaignWithSegment:
        """Archive a campaign. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:write`."""
        result: types.CampaignWithSegment = (self._client.call("archiveCampaign", path={"id": id}, **options))["data"]
        return result

    def unarchive(self, id: str, **options: Unpack[CallOptions]) -> types.CampaignWithSegment:
        """Unarchive a campaign. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:write`."""
        result: types.CampaignWithSegment = (self._client.call("unarchiveCampaign", path={"id": id}, **options))["data"]
        return result

    def test(self, id: str, body: types.TestCampaignRequest, **options: Unpack[CallOptions]) -> types.DeleteCampaignResult:
        """Send a test of a campaign to a member or a test address. Sent at once, without entries in ledger, events or counters. By default without footer, and filled in only if the address is a contact; see `asSent`. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:send`."""
        result: types.DeleteCampaignResult = self._client.call("testCampaign", path={"id": id}, body=body, **options)
        return result

    def stats(self, id: str, **options: Unpack[CallOptions]) -> types.CampaignStats:
        """Get the counts and rates of a campaign. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:read`."""
        result: types.CampaignStats = (self._client.call("getCampaignStats", path={"id": id}, **options))["data"]
        return result

    def audit(self, id: str, **options: Unpack[CallOptions]) -> types.CampaignAudit:
        """Audit the ledger of a campaign. Counts the rows of the current send by verdict, says whether they add up, and returns the hash of the ledger. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:read`."""
        result: types.CampaignAudit = (self._client.call("getCampaignAudit", path={"id": id}, **options))["data"]
        return result

    def list_recipients(self, id: str, query: Optional[types.ListCampaignRecipientsQuery] = None, **options: Unpack[CallOptions]) -> Page[types.CampaignRecipient]:
        """List the recipients of a campaign with their verdicts. The ledger of the current send, of one `verdict` (handed_over, skipped, failed, unknown, pending) or of all, and of what recipients `did`; as a CSV file with `format=csv` or `Accept: text/csv`. With `type` (bounced, complained), the recipients whose mail bounced or was reported as spam, newest first. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:read`."""
        return self._client.pages("listCampaignRecipients", path={"id": id}, query=query, **options)

    def start_dry_run(self, id: str, body: Optional[types.StartCampaignDryRunRequest] = None, **options: Unpack[CallOptions]) -> types.CampaignDryRun:
        """Review a campaign before it is sent. Checks every contact of the audience and renders every message as a send would, and sends nothing. Returns 202; the report is ready when its state is `DONE`. A running dry run ends. With `sample`, every contact is checked but only that many messages are rendered, which is faster for a large audience. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:write`."""
        result: types.CampaignDryRun = (self._client.call("startCampaignDryRun", path={"id": id}, body=body, **options))["data"]
        return result

    def get_dry_run(self, id: str, n: Union[int, str] = "latest", **options: Unpack[CallOptions]) -> types.CampaignDryRun:
        """Get the report of a dry run. `n` is its number, or `latest`. `fingerprint` launches exactly what was reviewed; `changed` names what has been changed since. Kept for seven days. `samples` hold data of contacts: a key with scopes needs `contacts:read` to get them. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:read`."""
        result: types.CampaignDryRun = (self._client.call("getCampaignDryRun", path={"id": id, "n": n}, **options))["data"]
        return result

    def review(self, id: str, body: Optional[types.StartCampaignDryRunRequest] = None, *, every: float = 1.0, **options: Unpack[CallOptions]) -> types.CampaignDryRun:
        """A dry run from its start to its end: its `state` is `DONE` or `FAILED`."""
        started = self.start_dry_run(id, body, **options)
        return self._client.poll(lambda: self.get_dry_run(id, int(started["n"]), **options), lambda value: bool(value["state"] in ("DONE", "FAILED")), every)

    def revise(self, id: str, body: Optional[types.ReviseCampaignRequest] = None, **options: Unpack[CallOptions]) -> types.CampaignWithSegment:
        """Revise the content of a paused campaign. Recipients who have not received it yet get the new content when it is resumed; the ledger shows who got which version. Answers 409 `STILL_LEAVING` while messages with the old content are unconfirmed. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:send`."""
        result: types.CampaignWithSegment = (self._client.call("reviseCampaign", path={"id": id}, body=body, **options))["data"]
        return result

    def correct(self, id: str, body: types.CreateCampaignCorrectionRequest, **options: Unpack[CallOptions]) -> types.Campaign:
        """Create a correction of a campaign. Creates a draft for exactly the recipients who got these versions of its content, or opened or clicked them. Review and send it like any campaign; contacts who have unsubscribed since are skipped. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:write`."""
        result: types.Campaign = (self._client.call("createCampaignCorrection", path={"id": id}, body=body, **options))["data"]
        return result

    def withdraw(self, id: str, **options: Unpack[CallOptions]) -> types.DeleteCampaignResult:
        """Withdraw or decline a send that is waiting for approval. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `campaigns:send`."""
        result: types.DeleteCampaignResult = self._client.call("withdrawCampaignApproval", path={"id": id}, **options)
        return result


class Workflows(Resource):
    def list(self, query: Optional[types.ListWorkflowsQuery] = None, **options: Unpack[CallOptions]) -> Page[types.ListWorkflowsResultDataItem]:
        """List workflows. By page number, or with `limit` and `cursor`. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:read`."""
        return self._client.pages("listWorkflows", query=query, **options)

    def get(self, id: str, **options: Unpack[CallOptions]) -> types.WorkflowWithGraph:
        """Get a workflow with its graph. `issues` lists what keeps it from being enabled. The header `ETag` names the `revision`: an edit that sends it as `If-Match` is refused (412) if somebody else has edited since. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:read`."""
        result: types.WorkflowWithGraph = self._client.call("getWorkflow", path={"id": id}, **options)
        return result

    def create(self, body: types.CreateWorkflowRequest, **options: Unpack[CallOptions]) -> types.Workflow:
        """Create a workflow. It is created disabled, with its TRIGGER step. `triggerType` is EVENT when absent, which needs `eventName`; MANUAL, SCHEDULE, CONTACT_CREATED and DATE take their `triggerConfig` and no event. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:write`."""
        result: types.Workflow = self._client.call("createWorkflow", body=body, **options)
        return result

    def update(self, id: str, body: Optional[types.UpdateWorkflowRequest] = None, **options: Unpack[CallOptions]) -> types.Workflow:
        """Update, enable or disable a workflow. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:write`."""
        result: types.Workflow = self._client.call("updateWorkflow", path={"id": id}, body=body, **options)
        return result

    def delete(self, id: str, **options: Unpack[CallOptions]) -> None:
        """Delete a workflow. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:write`."""
        self._client.call("deleteWorkflow", path={"id": id}, **options)

    def duplicate(self, id: str, **options: Unpack[CallOptions]) -> types.Workflow:
        """Duplicate a workflow. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:write`."""
        result: types.Workflow = self._client.call("duplicateWorkflow", path={"id": id}, **options)
        return result

    def enable(self, id: str, **options: Unpack[CallOptions]) -> types.Workflow:
        """Enables it."""
        result: types.Workflow = self._client.call("updateWorkflow", path={"id": id}, body={"enabled": True}, **options)
        return result

    def disable(self, id: str, **options: Unpack[CallOptions]) -> types.Workflow:
        """Disables it: no contact enters it anymore, and those who are in it go on."""
        result: types.Workflow = self._client.call("updateWorkflow", path={"id": id}, body={"enabled": False}, **options)
        return result

    def pause(self, id: str, **options: Unpack[CallOptions]) -> types.Workflow:
        """Pause a workflow. Contacts inside stay at their step: timers may pass and wait, and events are taken. Contacts who would enter are queued. A step that is running finishes, and emails that are queued are sent. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:write`."""
        result: types.Workflow = self._client.call("pauseWorkflow", path={"id": id}, **options)
        return result

    def resume(self, id: str, body: Optional[types.ResumeWorkflowRequest] = None, **options: Unpack[CallOptions]) -> types.Workflow:
        """Resume a paused workflow. Contacts whom the pause held continue, and those who were queued enter, evenly over `spreadMinutes`. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:write`."""
        result: types.Workflow = self._client.call("resumeWorkflow", path={"id": id}, body=body, **options)
        return result

    def replace_graph(self, id: str, body: types.ReplaceWorkflowGraphRequest, **options: Unpack[CallOptions]) -> types.ReplaceWorkflowGraphResult:
        """Replace the whole graph. In one transaction, also while contacts are inside: they stay in their version, or are migrated by `migrate`, a plan as in `POST /workflows/{id}/migrate`. Steps keep their IDs; any other text as `id` names a new step, and `ids` returns its ID. An enabled workflow accepts only a graph without `issues`. `rollout` gives the graph to a share of new contacts first; without it the graph is for all, and a rollout under way ends. `dryRun` changes nothing and returns what would change. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:write`."""
        result: types.ReplaceWorkflowGraphResult = self._client.call("replaceWorkflowGraph", path={"id": id}, body=body, **options)
        return result

    def get_rollout(self, id: str, **options: Unpack[CallOptions]) -> types.WorkflowRolloutReport:
        """Get the rollout of a version. The latest rollout, which may be over. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:read`."""
        result: types.WorkflowRolloutReport = self._client.call("getWorkflowRollout", path={"id": id}, **options)
        return result

    def update_rollout(self, id: str, body: Optional[types.UpdateWorkflowRolloutRequest] = None, **options: Unpack[CallOptions]) -> types.WorkflowRollout:
        """Change the rollout of a version. Whoever would get the new version still does at a larger share. Contacts inside stay in their version. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:write`."""
        result: types.WorkflowRollout = self._client.call("updateWorkflowRollout", path={"id": id}, body=body, **options)
        return result

    def finish_rollout(self, id: str, **options: Unpack[CallOptions]) -> types.WorkflowWithGraph:
        """Give a version to all new contacts. Contacts inside stay in their version; `POST /workflows/{id}/migrate` migrates them. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:write`."""
        result: types.WorkflowWithGraph = self._client.call("finishWorkflowRollout", path={"id": id}, **options)
        return result

    def take_rollout_back(self, id: str, **options: Unpack[CallOptions]) -> types.WorkflowWithGraph:
        """Take a version back. New contacts get the previous version again, and the workflow has its graph again; the new one stays in the list of versions. Contacts inside stay in their version. A step whose template was deleted meanwhile has none, and is in `issues`. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:write`."""
        result: types.WorkflowWithGraph = self._client.call("takeWorkflowRolloutBack", path={"id": id}, **options)
        return result

    def list_versions(self, id: str, query: Optional[types.ListWorkflowVersionsQuery] = None, **options: Unpack[CallOptions]) -> Page[types.ListWorkflowVersionsResultDataItem]:
        """List the versions of a graph. The versions that contacts have entered, with the number of contacts in each. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:read`."""
        return self._client.pages("listWorkflowVersions", path={"id": id}, query=query, **options)

    def test(self, id: str, body: types.TestWorkflowRequest, **options: Unpack[CallOptions]) -> types.WorkflowTestRun:
        """Try a workflow with a contact. Shows step by step what would happen to a contact: conditions are evaluated with its data, emails and requests are rendered, delays pass at once. Nothing is sent, called, changed or stored. Takes the graph as it is saved, or one that is not, in `graph`. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:write`."""
        result: types.WorkflowTestRun = self._client.call("testWorkflow", path={"id": id}, body=body, **options)
        return result

    def start(self, id: str, body: types.StartWorkflowExecutionRequest, **options: Unpack[CallOptions]) -> types.WorkflowExecution:
        """Enroll a contact in a workflow. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:write`."""
        result: types.WorkflowExecution = self._client.call("startWorkflowExecution", path={"id": id}, body=body, **options)
        return result

    def enroll(self, id: str, body: Optional[types.EnrollContactsRequest] = None, **options: Unpack[CallOptions]) -> types.EnrollContactsResult:
        """Enroll contacts of the past in a workflow. The members of a segment, contacts that match a condition, or contacts that an event happened to: give one of the three. Each enters at most once, by the rules of the workflow: without re-entry, contacts that have been in it do not. With `dryRun` it returns how many would enter; without, it returns 202 and a bulk job. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:write`."""
        result: types.EnrollContactsResult = self._client.call("enrollContacts", path={"id": id}, body=body, **options)
        return result

    def simulate(self, id: str, body: types.SimulateWorkflowRequest, **options: Unpack[CallOptions]) -> types.QueuedJob:
        """Simulate a workflow. Takes up to 10,000 contacts through a graph as it is saved, published, or in `graph`, with their data and events as of then. Executions run in their own time and do nothing: no email is sent, no webhook is called, no contact changes. Webhooks are taken to succeed, and limits of emails are not applied. `compareWith` compares with another version, or with what was recorded. Kept for 7 days. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:write`."""
        result: types.QueuedJob = self._client.call("simulateWorkflow", path={"id": id}, body=body, **options)
        return result

    def get_simulation(self, id: str, job_id: str, **options: Unpack[CallOptions]) -> types.WorkflowSimulation:
        """Get a simulation. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:read`."""
        result: types.WorkflowSimulation = self._client.call("getWorkflowSimulation", path={"id": id, "jobId": job_id}, **options)
        return result

    def cancel_simulation(self, id: str, job_id: str, **options: Unpack[CallOptions]) -> types.WorkflowSimulation:
        """Cancel a simulation. The contacts simulated so far are removed. A simulation that has ended stays as it is. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:write`."""
        result: types.WorkflowSimulation = self._client.call("cancelWorkflowSimulation", path={"id": id, "jobId": job_id}, **options)
        return result

    def list_simulated_contacts(self, id: str, job_id: str, query: Optional[types.ListSimulatedContactsQuery] = None, **options: Unpack[CallOptions]) -> Page[types.SimulatedContactsDataItem]:
        """List the contacts of a simulation. All that were simulated so far, or those that match every filter. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:read`."""
        return self._client.pages("listSimulatedContacts", path={"id": id, "jobId": job_id}, query=query, **options)

    def list_executions(self, id: str, query: Optional[types.ListWorkflowExecutionsQuery] = None, **options: Unpack[CallOptions]) -> Page[types.ListedWorkflowExecution]:
        """List the executions of a workflow. `stepId` filters by the current step. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:read`."""
        return self._client.pages("listWorkflowExecutions", path={"id": id}, query=query, **options)

    def get_execution(self, id: str, execution_id: str, **options: Unpack[CallOptions]) -> types.WorkflowExecutionStory:
        """Get an execution with all its steps. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:read`."""
        result: types.WorkflowExecutionStory = self._client.call("getWorkflowExecution", path={"id": id, "executionId": execution_id}, **options)
        return result

    def cancel_execution(self, id: str, execution_id: str, **options: Unpack[CallOptions]) -> types.WorkflowExecution:
        """Cancel an execution. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:write`."""
        result: types.WorkflowExecution = self._client.call("cancelWorkflowExecution", path={"id": id, "executionId": execution_id}, **options)
        return result

    def cancel_executions(self, id: str, **options: Unpack[CallOptions]) -> types.CancelWorkflowExecutionsResult:
        """Cancel every active execution of a workflow. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:write`."""
        result: types.CancelWorkflowExecutionsResult = self._client.call("cancelWorkflowExecutions", path={"id": id}, **options)
        return result

    def retry_executions(self, id: str, body: Optional[types.RetryWorkflowExecutionsRequest] = None, **options: Unpack[CallOptions]) -> types.RetryWorkflowExecutionsResult:
        """Retry failed executions. Each resumes at the step that failed, in the current version if that has the step: fix the step, publish, and retry. A step that sends an email or calls a webhook does so again. With `where`, `from` or `version` an email that the execution has sent, or may have, is not sent again unless `sendAgain` is `true`. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:write`."""
        result: types.RetryWorkflowExecutionsResult = self._client.call("retryWorkflowExecutions", path={"id": id}, body=body, **options)
        return result

    def count_contacts(self, id: str, query: Optional[types.CountWorkflowContactsQuery] = None, **options: Unpack[CallOptions]) -> types.CountWorkflowContactsResult:
        """Count the contacts at each step of a workflow. Beside the contacts who are there now, what happened to all who reached a step: how many took each path, and how many dropped off. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:read`."""
        result: types.CountWorkflowContactsResult = self._client.call("countWorkflowContacts", path={"id": id}, query=query, **options)
        return result

    def get_goal(self, id: str, query: Optional[types.GetWorkflowGoalQuery] = None, **options: Unpack[CallOptions]) -> types.WorkflowGoalFigures:
        """Get the results of a workflow’s goal. Over all contacts who have entered a version with a goal, by the goal of that version, also after their executions are removed. Updated within seconds. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:read`."""
        result: types.WorkflowGoalFigures = self._client.call("getWorkflowGoal", path={"id": id}, query=query, **options)
        return result

    def migrate(self, id: str, body: Optional[types.MigrateWorkflowRequest] = None, **options: Unpack[CallOptions]) -> types.MigrateWorkflowResult:
        """Migrate the contacts inside to the current graph. A rule for each step: `finish`, `moveAtNextStep`, `moveNow` (to `toStepId`) or `exit`. With `dryRun` it returns how many contacts each rule matches; without, it returns 202 and a job that you can poll and cancel. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `workflows:write`."""
        result: types.MigrateWorkflowResult = self._client.call("migrateWorkflow", path={"id": id}, body=body, **options)
        return result


class WebhookEndpoints(Resource):
    def list(self, query: Optional[types.ListWebhookEndpointsQuery] = None, **options: Unpack[CallOptions]) -> Page[types.WebhookEndpoint]:
        """List webhook endpoints. Needs the secret key, or a session with `X-Project-Id`. Sessions need the role ADMIN. Keys with scopes need `webhooks`."""
        return self._client.pages("listWebhookEndpoints", query=query, **options)

    def get(self, id: str, **options: Unpack[CallOptions]) -> types.WebhookEndpoint:
        """Get a webhook endpoint. Needs the secret key, or a session with `X-Project-Id`. Sessions need the role ADMIN. Keys with scopes need `webhooks`."""
        result: types.WebhookEndpoint = self._client.call("getWebhookEndpoint", path={"id": id}, **options)
        return result

    def create(self, body: types.CreateWebhookEndpointRequest, **options: Unpack[CallOptions]) -> types.WebhookEndpointWithSecret:
        """Create a webhook endpoint. Returns the signing secret once. Calls follow Standard Webhooks: verify `webhook-signature` with any of its libraries. Needs the secret key, or a session with `X-Project-Id`. Sessions need the role ADMIN. Keys with scopes need `webhooks`."""
        result: types.WebhookEndpointWithSecret = self._client.call("createWebhookEndpoint", body=body, **options)
        return result

    def update(self, id: str, body: Optional[types.UpdateWebhookEndpointRequest] = None, **options: Unpack[CallOptions]) -> types.WebhookEndpoint:
        """Update, pause or enable a webhook endpoint. Needs the secret key, or a session with `X-Project-Id`. Sessions need the role ADMIN. Keys with scopes need `webhooks`."""
        result: types.WebhookEndpoint = self._client.call("updateWebhookEndpoint", path={"id": id}, body=body, **options)
        return result

    def delete(self, id: str, **options: Unpack[CallOptions]) -> None:
        """Delete a webhook endpoint with its log. Needs the secret key, or a session with `X-Project-Id`. Sessions need the role ADMIN. Keys with scopes need `webhooks`."""
        self._client.call("deleteWebhookEndpoint", path={"id": id}, **options)

    def rotate_secret(self, id: str, body: Optional[types.RotateWebhookEndpointSecretRequest] = None, **options: Unpack[CallOptions]) -> types.WebhookEndpointWithSecret:
        """Replace the signing secret. Returns the new secret once. Until the overlap ends, calls carry a signature of each. Needs the secret key, or a session with `X-Project-Id`. Sessions need the role ADMIN. Keys with scopes need `webhooks`."""
        result: types.WebhookEndpointWithSecret = self._client.call("rotateWebhookEndpointSecret", path={"id": id}, body=body, **options)
        return result

    def test(self, id: str, body: Optional[types.TestWebhookEndpointRequest] = None, **options: Unpack[CallOptions]) -> types.TestWebhookEndpointResult:
        """Call a webhook endpoint with a test event. Waits for the response, up to 15 seconds. The event has no sequence number, and is not logged or retried. Needs the secret key, or a session with `X-Project-Id`. Sessions need the role ADMIN. Keys with scopes need `webhooks`."""
        result: types.TestWebhookEndpointResult = self._client.call("testWebhookEndpoint", path={"id": id}, body=body, **options)
        return result

    def list_deliveries(self, id: str, query: Optional[types.ListWebhookEndpointDeliveriesQuery] = None, **options: Unpack[CallOptions]) -> Page[types.WebhookDelivery]:
        """List deliveries. Needs the secret key, or a session with `X-Project-Id`. Sessions need the role ADMIN. Keys with scopes need `webhooks`."""
        return self._client.pages("listWebhookEndpointDeliveries", path={"id": id}, query=query, **options)

    def get_delivery(self, id: str, event_id: str, **options: Unpack[CallOptions]) -> types.WebhookDeliveryWithAttempts:
        """Get a delivery with its attempts. Needs the secret key, or a session with `X-Project-Id`. Sessions need the role ADMIN. Keys with scopes need `webhooks`."""
        result: types.WebhookDeliveryWithAttempts = self._client.call("getWebhookEndpointDelivery", path={"id": id, "eventId": event_id}, **options)
        return result

    def redeliver(self, id: str, event_id: str, **options: Unpack[CallOptions]) -> types.WebhookDeliveryWithAttempts:
        """Deliver an event again. Needs the secret key, or a session with `X-Project-Id`. Sessions need the role ADMIN. Keys with scopes need `webhooks`."""
        result: types.WebhookDeliveryWithAttempts = self._client.call("redeliverWebhookEndpointDelivery", path={"id": id, "eventId": event_id}, **options)
        return result

    def replay(self, id: str, body: types.ReplayWebhookEndpointRequest, **options: Unpack[CallOptions]) -> types.WebhookReplay:
        """Replay the events of a time span. They keep their `webhook-id`. `only: "failed"` repeats failed deliveries. Needs the secret key, or a session with `X-Project-Id`. Sessions need the role ADMIN. Keys with scopes need `webhooks`."""
        result: types.WebhookReplay = self._client.call("replayWebhookEndpoint", path={"id": id}, body=body, **options)
        return result

    def audit(self, id: str, query: Optional[types.GetWebhookEndpointAuditQuery] = None, **options: Unpack[CallOptions]) -> types.WebhookEndpointAudit:
        """Compare events with deliveries. Counts the events that the endpoint subscribes to and what was delivered of them, since its subscription last changed and at most 31 days. Needs the secret key, or a session with `X-Project-Id`. Sessions need the role ADMIN. Keys with scopes need `webhooks`."""
        result: types.WebhookEndpointAudit = self._client.call("getWebhookEndpointAudit", path={"id": id}, query=query, **options)
        return result


class Domains(Resource):
    def list(self, **options: Unpack[CallOptions]) -> Page[types.Domain]:
        """List the domains of a project. Needs the secret key, or a session with `X-Project-Id`."""
        return self._client.pages("listDomains", project="projectId", **options)

    def create(self, domain: str, **options: Unpack[CallOptions]) -> types.Domain:
        """Add a sender domain and get the DNS records to set. Needs the secret key, or a session with `X-Project-Id`. Sessions need the role ADMIN."""
        result: types.Domain = self._client.call("addDomain", project="body", body={"domain": domain}, **options)
        return result

    def verify(self, id: str, **options: Unpack[CallOptions]) -> types.DomainCheck:
        """Check the DNS records of a domain now. Needs the secret key, or a session with `X-Project-Id`."""
        result: types.DomainCheck = self._client.call("checkDomain", path={"id": id}, **options)
        return result

    def check_dmarc(self, id: str, **options: Unpack[CallOptions]) -> types.DmarcCheck:
        """Check the DMARC record of a domain now. Needs the secret key, or a session with `X-Project-Id`."""
        result: types.DmarcCheck = self._client.call("checkDmarc", path={"id": id}, **options)
        return result

    def delete(self, id: str, **options: Unpack[CallOptions]) -> types.DeleteDomainResult:
        """Remove a sender domain. Needs the secret key, or a session with `X-Project-Id`. Sessions need the role ADMIN."""
        result: types.DeleteDomainResult = self._client.call("deleteDomain", path={"id": id}, **options)
        return result


class Keys(Resource):
    def list(self, **options: Unpack[CallOptions]) -> Page[types.UpdateProjectApiKeyResult]:
        """List the API keys with scopes. Needs the secret key of the project, or the session of a member. Sessions need the role ADMIN."""
        return self._client.pages("listProjectApiKeys", project="id", **options)


class Holdout(Resource):
    def get(self, **options: Unpack[CallOptions]) -> types.Holdout:
        """Get the control group of a project. Needs the secret key of the project, or the session of a member."""
        result: types.Holdout = self._client.call("getHoldout", project="id", **options)
        return result

    def set(self, body: types.SetHoldoutRequest, **options: Unpack[CallOptions]) -> types.Holdout:
        """Hold a share of contacts out of all marketing email. Campaigns, workflows, `POST /v1/send` and SMTP submission skip these contacts: their marketing email is kept as SUPPRESSED. Transactional email is sent. A hash decides who is in the group, so a larger `percent` keeps its contacts. Needs the secret key of the project, or the session of a member. Sessions need the role ADMIN."""
        result: types.Holdout = self._client.call("setHoldout", project="id", body=body, **options)
        return result

    def end(self, **options: Unpack[CallOptions]) -> None:
        """End the control group of a project. Its contacts get marketing email from now on. A later group is chosen anew. Needs the secret key of the project, or the session of a member. Sessions need the role ADMIN."""
        self._client.call("endHoldout", project="id", **options)


class Fernpost(Client):
    """A client of the API of one project. `call` and `pages` reach every operation by its name."""

    def __init__(self, base_url: str, key: str, **options: Unpack[ClientOptions]) -> None:
        super().__init__(base_url, key, **options)
        self.emails = Emails(self)
        self.contacts = Contacts(self)
        self.segments = Segments(self)
        self.events = Events(self)
        self.suppressions = Suppressions(self)
        self.jobs = Jobs(self)
        self.erasures = Erasures(self)
        self.templates = Templates(self)
        self.campaigns = Campaigns(self)
        self.workflows = Workflows(self)
        self.webhook_endpoints = WebhookEndpoints(self)
        self.domains = Domains(self)
        self.keys = Keys(self)
        self.holdout = Holdout(self)

    def send(self, body: types.SendEmailRequest, **options: Unpack[CallOptions]) -> List[types.SendEmailResultDataEmailsItem]:
        """Send an email. Returns when the messages are durably queued; delivery follows. Each recipient becomes a contact and counts as a request against the rate limit; a request has at most 1,000. Needs the secret key. Keys with scopes need `emails:send`."""
        result: List[types.SendEmailResultDataEmailsItem] = (self.call("sendEmail", body=body, **options))["data"]["emails"]
        return result

    def send_batch(self, body: types.SendEmailBatchRequest, **options: Unpack[CallOptions]) -> List[Union[types.SendEmailBatchResultDataResultsItem, types.SendEmailBatchResultDataResultsItem2]]:
        """Send up to 100 emails in one request. Each item is a body of `POST /v1/send`; together they have at most 1,000 recipients, each of which counts against the rate limit. With the mode `all` nothing is sent unless everything can be, and fields are named like `emails.3.to`. With `each` the answer is 200 and says of each item whether it was accepted. One `Idempotency-Key` stands for the whole batch. Needs the secret key. Keys with scopes need `emails:send`."""
        result: List[Union[types.SendEmailBatchResultDataResultsItem, types.SendEmailBatchResultDataResultsItem2]] = (self.call("sendEmailBatch", body=body, **options))["data"]["results"]
        return result

    def track(self, body: types.TrackEventRequest, **options: Unpack[CallOptions]) -> types.TrackEventResultData:
        """Track an event of a contact. Creates the contact if it is new. Takes the public key, so browsers and apps can call it. Needs the public key. Keys with scopes need `events:write`."""
        result: types.TrackEventResultData = (self.call("trackEvent", body=body, **options))["data"]
        return result

    def verify_address(self, email: str, **options: Unpack[CallOptions]) -> types.AddressVerification:
        """Verify an email address. Checks in the DNS whether the domain accepts mail, and classifies the address. Nothing is sent to it. Needs the secret key. Keys with scopes need `emails:send`."""
        result: types.AddressVerification = (self.call("verifyAddress", body={"email": email}, **options))["data"]
        return result

    def explain(self, body: types.ExplainRequest, **options: Unpack[CallOptions]) -> types.Explanation:
        """Explain why a contact received something, or didn’t. Every decision along the way, in order, recorded or evaluated now from the values it names. The first `stop` is the reason. 60 a minute for each project. A key with scopes needs `contacts:read` as well. Needs the secret key, or a session with `X-Project-Id`. Keys with scopes need `explain`."""
        result: types.Explanation = self.call("explain", body=body, **options)
        return result
