import type { CallOptions } from '../http.ts';
import type { Body, ListQuery } from '../types.ts';
import { Resource } from './resource.ts';

/** Emails that were sent or wait to be. */
export class Emails extends Resource {
  /** The latest first. Name an address, a contact, a tag or a span of at most 31 days. */
  list(query: ListQuery<'listEmails'>, options?: CallOptions) {
    return this.client.list('listEmails', { query }, options);
  }
  /** An email and its timeline. */
  get(id: string, options?: CallOptions) {
    return this.client.call('getEmail', { path: { id } }, options);
  }
  /** Moves an email that has not left to another time, an ISO 8601 instant. */
  reschedule(id: string, scheduledFor: string, options?: CallOptions) {
    return this.client.call('updateEmail', { path: { id }, body: { scheduledFor } }, options);
  }
  cancel(id: string, options?: CallOptions) {
    return this.client.call('cancelEmail', { path: { id } }, options);
  }
  /** Sends a held or scheduled email now. */
  release(id: string, options?: CallOptions) {
    return this.client.call('releaseEmail', { path: { id } }, options);
  }
  /** Sends an email that failed once more, as a new email, which is returned. */
  resend(id: string, body: Body<'resendEmail'> = {}, options?: CallOptions) {
    return this.client.call('resendEmail', { path: { id }, body }, options);
  }
  /** Emails as CSV, by the filters of `list`. */
  export(body: Body<'exportEmails'>, options?: CallOptions) {
    return this.client.call('exportEmails', { body }, options);
  }
}
