import type { CallOptions } from '../http.ts';
import { poll, type WaitOptions } from '../pages.ts';
import type { WithElements } from '../react.ts';
import type { ApiPromise } from '../responses.ts';
import type { Body, ListQuery, Reply } from '../types.ts';
import { dataOf, Resource } from './workflows.ts';

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

/** Templates of emails. */
export class Templates extends Resource {
  list(query: ListQuery<'listTemplates'> = {}, options?: CallOptions) {
    return this.client.list('listTemplates', { query }, options);
  }
  get(id: string, options?: CallOptions) {
    return this.client.call('getTemplate', { path: { id } }, options);
  }
  create(body: WithElements<Body<'createTemplate'>>, options?: CallOptions) {
    return this.client.call('createTemplate', { body: body as Body<'createTemplate'> }, options);
  }
  update(id: string, body: WithElements<NonNullable<Body<'updateTemplate'>>>, options?: CallOptions) {
    return this.client.call(
      'updateTemplate',
      { path: { id }, body: body as NonNullable<Body<'updateTemplate'>> },
      options,
    );
  }
  delete(id: string, options?: CallOptions) {
    return this.client.call('deleteTemplate', { path: { id } }, options);
  }
  duplicate(id: string, options?: CallOptions) {
    return this.client.call('duplicateTemplate', { path: { id } }, options);
  }
  /** A template, or content of your own, with values in its variables. */
  preview(body: Body<'previewTemplate'>, options?: CallOptions) {
    return this.client.call('previewTemplate', { body }, options);
  }
  /** Sends a test email to an address. */
  test(id: string, body: Body<'testTemplate'>, options?: CallOptions) {
    return this.client.call('testTemplate', { path: { id }, body }, options);
  }
  listVersions(id: string, options?: CallOptions) {
    return this.client.list('listTemplateVersions', { path: { id } }, options);
  }
}

type DryRun = Reply<'getCampaignDryRun'>['data'];

/** Campaigns: one message to many contacts. */
export class Campaigns extends Resource {
  list(query: ListQuery<'listCampaigns'> = {}, options?: CallOptions) {
    return this.client.list('listCampaigns', { query }, options);
  }
  get(id: string, options?: CallOptions) {
    return this.client.call('getCampaign', { path: { id } }, options).map(dataOf);
  }
  create(body: WithElements<Body<'createCampaign'>>, options?: CallOptions) {
    return this.client.call('createCampaign', { body: body as Body<'createCampaign'> }, options).map(dataOf);
  }
  update(id: string, body: WithElements<NonNullable<Body<'updateCampaign'>>>, options?: CallOptions) {
    return this.client
      .call('updateCampaign', { path: { id }, body: body as NonNullable<Body<'updateCampaign'>> }, options)
      .map(dataOf);
  }
  delete(id: string, options?: CallOptions) {
    return this.client.call('deleteCampaign', { path: { id } }, options);
  }
  /** A draft with the same content. */
  duplicate(id: string, options?: CallOptions) {
    return this.client.call('duplicateCampaign', { path: { id } }, options).map(dataOf);
  }
  /** Sends it now, or exactly what was reviewed: `{ fingerprint, drift }`. */
  send(id: string, body: NonNullable<Body<'sendCampaign'>> = {}, options?: CallOptions) {
    return this.client.call('sendCampaign', { path: { id }, body }, options).map(dataOf);
  }
  /** Sends it at a time, an ISO 8601 instant. */
  schedule(id: string, scheduledFor: string, options?: CallOptions) {
    return this.send(id, { scheduledFor }, options);
  }
  cancel(id: string, options?: CallOptions) {
    return this.client.call('cancelCampaign', { path: { id } }, options).map(dataOf);
  }
  pause(id: string, options?: CallOptions) {
    return this.client.call('pauseCampaign', { path: { id } }, options).map(dataOf);
  }
  resume(id: string, options?: CallOptions) {
    return this.client.call('resumeCampaign', { path: { id } }, options).map(dataOf);
  }
  /** Sends a finished campaign to those whose mail failed, as a new campaign, which is returned. */
  resend(id: string, options?: CallOptions) {
    return this.client.call('resendCampaign', { path: { id } }, options).map(dataOf);
  }
  archive(id: string, options?: CallOptions) {
    return this.client.call('archiveCampaign', { path: { id } }, options).map(dataOf);
  }
  unarchive(id: string, options?: CallOptions) {
    return this.client.call('unarchiveCampaign', { path: { id } }, options).map(dataOf);
  }
  /** Sends a test email to an address. */
  test(id: string, body: Body<'testCampaign'>, options?: CallOptions) {
    return this.client.call('testCampaign', { path: { id }, body }, options);
  }
  stats(id: string, options?: CallOptions) {
    return this.client.call('getCampaignStats', { path: { id } }, options).map(dataOf);
  }
  /** Returns how many recipients have each outcome; the numbers add up. */
  audit(id: string, options?: CallOptions) {
    return this.client.call('getCampaignAudit', { path: { id } }, options).map(dataOf);
  }
  listRecipients(
    id: string,
    query: Omit<NonNullable<ListQuery<'listCampaignRecipients'>>, 'format'> = {},
    options?: CallOptions,
  ) {
    return this.client.list('listCampaignRecipients', { path: { id }, query }, options);
  }
  /** Starts a dry run: checks every contact, renders every message or a `sample`, and sends nothing. */
  startDryRun(id: string, body: NonNullable<Body<'startCampaignDryRun'>> = {}, options?: CallOptions) {
    return this.client.call('startCampaignDryRun', { path: { id }, body }, options).map(dataOf);
  }
  /** A dry run by its number; the latest when absent. */
  getDryRun(id: string, n: number | 'latest' = 'latest', options?: CallOptions): ApiPromise<DryRun> {
    return this.client.call('getCampaignDryRun', { path: { id, n: String(n) } }, options).map(dataOf);
  }
  /** A dry run from its start to its end: its `state` is `DONE` or `FAILED`. */
  async review(
    id: string,
    body: NonNullable<Body<'startCampaignDryRun'>> = {},
    options: WaitOptions = {},
  ): Promise<DryRun> {
    const { n } = await this.startDryRun(id, body, options);
    return poll(
      () => this.getDryRun(id, n, options),
      ({ state }) => state === 'DONE' || state === 'FAILED',
      options,
    );
  }
  /** Replaces the content of a paused campaign for recipients who have not received it yet. */
  revise(id: string, body: WithElements<NonNullable<Body<'reviseCampaign'>>>, options?: CallOptions) {
    return this.client
      .call('reviseCampaign', { path: { id }, body: body as NonNullable<Body<'reviseCampaign'>> }, options)
      .map(dataOf);
  }
  /** A draft for exactly the recipients of certain versions. */
  correct(id: string, body: WithElements<Body<'createCampaignCorrection'>>, options?: CallOptions) {
    return this.client
      .call('createCampaignCorrection', { path: { id }, body: body as Body<'createCampaignCorrection'> }, options)
      .map(dataOf);
  }
  /** Takes back a send that waits for approval. */
  withdraw(id: string, options?: CallOptions) {
    return this.client.call('withdrawCampaignApproval', { path: { id } }, options);
  }
}
