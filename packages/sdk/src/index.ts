import { OperationClient } from './client.ts';
import type { CallOptions, ClientOptions } from './http.ts';
import type { WithElements } from './react.ts';
import { Contacts, Erasures, Events, Jobs, Segments, Suppressions } from './resources/audience.ts';
import { Domains, Holdout, Keys, ProjectId, WebhookEndpoints } from './resources/project.ts';
import { Campaigns, Emails, Templates } from './resources/sending.ts';
import { Workflows } from './resources/workflows.ts';
import type { ApiPromise } from './responses.ts';
import type { components } from './schema.d.ts';
import type { Body } from './types.ts';

export { type CallOptions, type ClientOptions, pause, urlOf } from './http.ts';
export { operationTable } from './operations.ts';
export { type Page, PagePromise, type WaitOptions } from './pages.ts';
export { type ReactElement, unescapeVariables, type WithElements } from './react.ts';
export {
  ApiPromise,
  type ApiResponse,
  FernpostError,
  type FieldProblem,
  type IgnoredField,
  type RateLimit,
} from './responses.ts';
export type { Body, Input, InputArguments, Item, ListOperation, ListQuery, OperationId, Reply } from './types.ts';
export { version } from './version.ts';
export { verifyWebhook, type WebhookCall } from './webhook.ts';

type Schemas = components['schemas'];

/** A contact of the project. */
export type Contact = Schemas['Contact'];
/** An email with what happened to it. */
export type Email = Schemas['Email'];
/** A recipient of `send` with the id of their email. */
export type SentEmail = Schemas['SendEmailResult']['data']['emails'][number];
/** The outcome of an item of `sendBatch`. */
export type BatchOutcome = Schemas['SendEmailBatchResult']['data']['results'][number];

/**
 * A client of the API of one project. `call` and `list` reach every operation of `/openapi.json` by its name; the methods beside them
 * are those that apps need. Every method takes the options of its call last, and returns a promise with `withResponse()`.
 */
export class Fernpost extends OperationClient {
  readonly emails = new Emails(this);
  readonly contacts = new Contacts(this);
  readonly segments = new Segments(this);
  readonly events = new Events(this);
  readonly suppressions = new Suppressions(this);
  readonly jobs = new Jobs(this);
  readonly erasures = new Erasures(this);
  readonly templates = new Templates(this);
  readonly campaigns = new Campaigns(this);
  readonly workflows = new Workflows(this);
  readonly webhookEndpoints = new WebhookEndpoints(this);
  readonly domains: Domains;
  readonly keys: Keys;
  readonly holdout: Holdout;

  /** @throws TypeError for an address that is not one, and without a key */
  constructor(options: ClientOptions & { projectId?: string }) {
    super(options);
    const projectId = new ProjectId(this, options.projectId);
    this.domains = new Domains(this, projectId);
    this.keys = new Keys(this, projectId);
    this.holdout = new Holdout(this, projectId);
  }

  /** Sends an email to each recipient; returns when all are durably queued. Repeated attempts send once. */
  send(body: WithElements<Body<'sendEmail'>>, options?: CallOptions): ApiPromise<SentEmail[]> {
    return this.call('sendEmail', { body: body as Body<'sendEmail'> }, options).map(({ data }) => data.emails);
  }

  /** Sends up to 100 emails in one request, all or none; with the mode `each`, each item has an outcome of its own. */
  sendBatch(body: WithElements<Body<'sendEmailBatch'>>, options?: CallOptions): ApiPromise<BatchOutcome[]> {
    return this.call('sendEmailBatch', { body: body as Body<'sendEmailBatch'> }, options).map(
      ({ data }) => data.results,
    );
  }

  /** Records an event of a contact, who is created if they are new. Takes the public key. */
  track(body: Body<'trackEvent'>, options?: CallOptions): ApiPromise<{ contact: string; event: string }> {
    return this.call('trackEvent', { body }, options).map(({ data }) => data);
  }

  /** Checks an email address: its form, whether its domain takes mail, likely typos. */
  verifyAddress(email: string, options?: CallOptions) {
    return this.call('verifyAddress', { body: { email } }, options).map(({ data }) => data);
  }

  /** Why a contact received something, or did not. */
  explain(body: Body<'explain'>, options?: CallOptions) {
    return this.call('explain', { body }, options);
  }
}
