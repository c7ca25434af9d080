import type { CallOptions } from '../http.ts';
import type { Body, ListQuery } from '../types.ts';
import { Resource } from './resource.ts';

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
