import type { CallOptions } from '../http.ts';
import { poll, type WaitOptions } from '../pages.ts';
import type { Body, Input, ListQuery } from '../types.ts';
import { Resource } from './workflows.ts';

/** Contacts of the project. */
export class Contacts extends Resource {
  list(query: ListQuery<'listContacts'> = {}, options?: CallOptions) {
    return this.client.list('listContacts', { query }, options);
  }
  get(id: string, options?: CallOptions) {
    return this.client.call('getContact', { path: { id } }, options);
  }
  /** Creates the contact of an address, or updates it. */
  upsert(body: Body<'upsertContact'>, options?: CallOptions) {
    return this.client.call('upsertContact', { body }, options);
  }
  update(id: string, body: Body<'updateContact'>, options?: CallOptions) {
    return this.client.call('updateContact', { path: { id }, body }, options);
  }
  delete(id: string, options?: CallOptions) {
    return this.client.call('deleteContact', { path: { id } }, options);
  }
  /** Which addresses are contacts. */
  lookup(body: Body<'lookupContacts'>, options?: CallOptions) {
    return this.client.call('lookupContacts', { body }, options);
  }
  /** Contacts that match a condition tree. */
  search(body: NonNullable<Body<'searchContacts'>>, options?: CallOptions) {
    return this.client.list('searchContacts', { body }, options);
  }
  /** Contacts as CSV. */
  export(body: Body<'exportContacts'> = {}, options?: CallOptions) {
    return this.client.call('exportContacts', { body }, options);
  }
  /** Starts an import of a CSV file, the field `file` of the form; `jobs.waitForImport` waits for its end. */
  import(body: Body<'importContacts'>, options?: CallOptions) {
    return this.client.call('importContacts', { body }, options);
  }
  /** Starts a job that subscribes contacts. */
  subscribe(body: Body<'subscribeContacts'>, options?: CallOptions) {
    return this.client.call('subscribeContacts', { body }, options);
  }
  /** Starts a job that unsubscribes contacts. */
  unsubscribe(body: Body<'unsubscribeContacts'>, options?: CallOptions) {
    return this.client.call('unsubscribeContacts', { body }, options);
  }
  /** Starts a job that deletes contacts. */
  deleteMany(body: Body<'deleteContacts'>, options?: CallOptions) {
    return this.client.call('deleteContacts', { body }, options);
  }
  /** Changes of the contact's fields, the latest first. */
  listHistory(id: string, query: ListQuery<'listContactHistory'> = {}, options?: CallOptions) {
    return this.client.list('listContactHistory', { path: { id }, query }, options);
  }
  /** Whether the contact is in the control group. */
  getHoldout(id: string, options?: CallOptions) {
    return this.client.call('getContactHoldout', { path: { id } }, options);
  }
  listEvents(id: string, query: ListQuery<'listContactEvents'> = {}, options?: CallOptions) {
    return this.client.list('listContactEvents', { path: { contactId: id }, query }, options);
  }
  listSegments(id: string, options?: CallOptions) {
    return this.client.list('listContactSegments', { path: { id } }, options);
  }
  /** Everything known about the contact, for a request under Articles 15 and 20 of the GDPR. */
  dossier(id: string, options?: CallOptions) {
    return this.client.call('exportContact', { path: { id } }, options);
  }
  /** Starts deleting the contact and emptying everything stored of it; `erasures.wait` waits for its end. */
  erase(id: string, body: Body<'eraseContact'> = {}, options?: CallOptions) {
    return this.client.call('eraseContact', { path: { id }, body }, options);
  }
}

/** Groups of contacts: by a condition, or by hand. */
export class Segments extends Resource {
  list(options?: CallOptions) {
    return this.client.list('listSegments', {}, options);
  }
  get(id: string, options?: CallOptions) {
    return this.client.call('getSegment', { path: { id } }, options);
  }
  create(body: Body<'createSegment'>, options?: CallOptions) {
    return this.client.call('createSegment', { body }, options);
  }
  update(id: string, body: Body<'updateSegment'>, options?: CallOptions) {
    return this.client.call('updateSegment', { path: { id }, body }, options);
  }
  delete(id: string, options?: CallOptions) {
    return this.client.call('deleteSegment', { path: { id } }, options);
  }
  /** How many contacts match a condition, and some of them. */
  preview(body: Body<'previewSegment'>, options?: CallOptions) {
    return this.client.call('previewSegment', { body }, options);
  }
  listContacts(id: string, query: ListQuery<'listSegmentContacts'> = {}, options?: CallOptions) {
    return this.client.list('listSegmentContacts', { path: { id }, query }, options);
  }
  /** Adds contacts to a static segment, by their addresses. */
  addMembers(id: string, body: Body<'addSegmentMembers'>, options?: CallOptions) {
    return this.client.call('addSegmentMembers', { path: { id }, body }, options);
  }
  /** Removes contacts from a static segment, by their addresses. */
  removeMembers(id: string, body: Body<'removeSegmentMembers'>, options?: CallOptions) {
    return this.client.call('removeSegmentMembers', { path: { id }, body }, options);
  }
}

/** Events of contacts. */
export class Events extends Resource {
  list(query: ListQuery<'listEvents'> = {}, options?: CallOptions) {
    return this.client.list('listEvents', { query }, options);
  }
  /** Records an event with the secret key; `track` of the client does with the public one. */
  record(body: Body<'recordEvent'>, options?: CallOptions) {
    return this.client.call('recordEvent', { body }, options);
  }
  listNames(options?: CallOptions) {
    return this.client.list('listEventNames', {}, options);
  }
  stats(query: NonNullable<Input<'getEventStats'>['query']> = {}, options?: CallOptions) {
    return this.client.call('getEventStats', { query }, options);
  }
  /** Segments and workflows that use an event. */
  usage(name: string, options?: CallOptions) {
    return this.client.call('getEventUsage', { path: { eventName: name } }, options);
  }
  /** Deletes every event of a name. */
  delete(name: string, options?: CallOptions) {
    return this.client.call('deleteEvents', { path: { eventName: name } }, options);
  }
}

/** Rules that keep mail from being sent, and the mail that they kept. */
export class Suppressions extends Resource {
  list(options?: CallOptions) {
    return this.client.list('listSuppressionRules', {}, options);
  }
  create(body: Body<'createSuppressionRule'>, options?: CallOptions) {
    return this.client.call('createSuppressionRule', { body }, options);
  }
  update(id: string, body: Body<'updateSuppressionRule'>, options?: CallOptions) {
    return this.client.call('updateSuppressionRule', { path: { id }, body }, options);
  }
  delete(id: string, options?: CallOptions) {
    return this.client.call('deleteSuppressionRule', { path: { id } }, options);
  }
  /** Whether the rules would suppress a message. */
  preview(body: Body<'previewSuppressionRules'>, options?: CallOptions) {
    return this.client.call('previewSuppressionRules', { body }, options);
  }
  listEmails(query: ListQuery<'listSuppressedEmails'> = {}, options?: CallOptions) {
    return this.client.list('listSuppressedEmails', { query }, options);
  }
  getEmail(id: string, options?: CallOptions) {
    return this.client.call('getSuppressedEmail', { path: { id } }, options);
  }
}

/** Imports and bulk changes of contacts. */
export class Jobs extends Resource {
  list(query: ListQuery<'listContactJobs'> = {}, options?: CallOptions) {
    return this.client.list('listContactJobs', { query }, options);
  }
  get(id: string, options?: CallOptions) {
    return this.client.call('getBulkJob', { path: { jobId: id } }, options);
  }
  getImport(id: string, options?: CallOptions) {
    return this.client.call('getContactImport', { path: { jobId: id } }, options);
  }
  /** Undoes a bulk change, except what has changed since; with `dryRun`, says what that would do. */
  undo(id: string, body: Body<'undoBulkJob'> = {}, options?: CallOptions) {
    return this.client.call('undoBulkJob', { path: { jobId: id }, body }, options);
  }
  undoImport(id: string, body: Body<'undoImport'> = {}, options?: CallOptions) {
    return this.client.call('undoImport', { path: { jobId: id }, body }, options);
  }
  /** The bulk change when it has ended: its `state` is `completed` or `failed`. */
  wait(id: string, options: WaitOptions = {}) {
    return poll(() => this.get(id, options), hasEnded, options);
  }
  /** The import when it has ended: its `state` is `completed` or `failed`. */
  waitForImport(id: string, options: WaitOptions = {}) {
    return poll(() => this.getImport(id, options), hasEnded, options);
  }
}

const hasEnded = ({ state }: { state: string }) => state === 'completed' || state === 'failed';

/** Requests to erase a contact. */
export class Erasures extends Resource {
  list(query: ListQuery<'listErasures'> = {}, options?: CallOptions) {
    return this.client.list('listErasures', { query }, options);
  }
  get(id: string, options?: CallOptions) {
    return this.client.call('getErasure', { path: { id } }, options);
  }
  /** The erasure when nothing is left in the service. What other systems keep expires later: its `status` is then `WAITING`. */
  wait(id: string, options: WaitOptions = {}) {
    return poll(
      () => this.get(id, options),
      ({ status }) => status !== 'RUNNING',
      options,
    );
  }
}
