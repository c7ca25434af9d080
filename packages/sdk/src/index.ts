import { Webhook } from 'standardwebhooks';
import { type CallOptions, type ClientOptions, Http } from './http.ts';
import { operationTable } from './operations.ts';
import type { components } from './schema.d.ts';
import type { Body, Input, InputArguments, Item, ListOperation, OperationId, Reply } from './types.ts';

export { type CallOptions, type ClientOptions, FernpostError } from './http.ts';
export { operationTable } from './operations.ts';
export type { Body, Input, InputArguments, Item, ListOperation, OperationId, Reply } from './types.ts';
export { version } from './version.ts';

type Schemas = components['schemas'];
type ListQuery<Id extends ListOperation> = Omit<Input<Id> extends { query?: infer Query } ? Query : never, 'cursor'>;

/** A contact of the project. */
export type Contact = Schemas['Contact'];
/** An email with what happened to it. */
export type Email = Schemas['Email'];
/** A recipient of `send` with the id of their email. */
export type SentEmail = Schemas['SendEmailResponse']['data']['emails'][number];
/** What became of an item of `sendBatch`. */
export type BatchOutcome = Schemas['SendEmailBatchResponse']['data']['results'][number];

interface AnyInput {
  path?: Readonly<Record<string, string | number>>;
  query?: object;
  body?: unknown;
}

/**
 * A client of the API of one project. `call` reaches every operation of `/openapi.json` by its name; the methods beside it are the
 * ones that apps need most.
 */
export class Fernpost {
  readonly #http: Http;

  constructor(options: ClientOptions) {
    this.#http = new Http(options);
  }

  /**
   * Calls an operation by the name that it has in `/openapi.json`.
   * @throws FernpostError for a refusal; what `fetch` throws when nobody answers
   */
  call<Id extends OperationId>(id: Id, ...given: [...InputArguments<Id>, CallOptions?]): Promise<Reply<Id>> {
    const [input = {}, options] = given as unknown as [AnyInput?, CallOptions?];
    return this.#request(id, input, options);
  }

  /** Every item of a list, page by page. */
  async *all<Id extends ListOperation>(id: Id, ...[input]: InputArguments<Id>): AsyncGenerator<Item<Id>, void> {
    const given = (input ?? {}) as AnyInput;
    for (let next: object | null = {}; next !== null; ) {
      const page: Page = await this.#request(id, { ...given, query: { ...given.query, ...next } });
      yield* page.data as Item<Id>[];
      next = pageAfter(page);
    }
  }

  /** Sends an email to each recipient; returns when all are durably queued. Repeated attempts send once. */
  async send(body: Body<'sendEmail'>, options?: CallOptions): Promise<SentEmail[]> {
    return (await this.call('sendEmail', { body }, options)).data.emails;
  }

  /** Sends up to 100 emails in one request, all or none; with the mode `each`, each item has an outcome of its own. */
  async sendBatch(body: Body<'sendEmailBatch'>, options?: CallOptions): Promise<BatchOutcome[]> {
    return (await this.call('sendEmailBatch', { body }, options)).data.results;
  }

  /** Records an event of a contact, who is created if they are new. Takes the public key. */
  async track(body: Body<'trackEvent'>, options?: CallOptions): Promise<{ contact: string; event: string }> {
    return (await this.call('trackEvent', { body }, options)).data;
  }

  readonly emails = {
    get: (id: string) => this.call('getEmail', { path: { id } }),
    /** Every email that fits, the latest first. */
    list: (query: ListQuery<'listEmails'>) => this.all('listEmails', { query }),
    /** Moves an email that has not left to another time. */
    reschedule: (id: string, scheduledFor: string) =>
      this.call('updateEmail', { path: { id }, body: { scheduledFor } }),
    cancel: (id: string) => this.call('cancelEmail', { path: { id } }),
    /** Sends a held email now. */
    release: (id: string) => this.call('releaseEmail', { path: { id } }),
    /** Sends an email that failed once more, as a new email, which is returned. */
    resend: (id: string, body: Body<'resendEmail'> = {}, options?: CallOptions) =>
      this.call('resendEmail', { path: { id }, body }, options),
  };

  readonly contacts = {
    get: (id: string) => this.call('getContact', { path: { id } }),
    list: (query: ListQuery<'listContacts'> = {}) => this.all('listContacts', { query }),
    /** Creates the contact of an address, or updates it. */
    upsert: (body: Body<'upsertContact'>) => this.call('upsertContact', { body }),
    update: (id: string, body: Body<'updateContact'>) => this.call('updateContact', { path: { id }, body }),
    delete: (id: string) => this.call('deleteContact', { path: { id } }),
  };

  readonly templates = {
    list: (query: ListQuery<'listTemplates'> = {}) => this.all('listTemplates', { query }),
    get: (id: string) => this.call('getTemplate', { path: { id } }),
    create: (body: Body<'createTemplate'>) => this.call('createTemplate', { body }),
    update: (id: string, body: Body<'updateTemplate'>) => this.call('updateTemplate', { path: { id }, body }),
    delete: (id: string) => this.call('deleteTemplate', { path: { id } }),
  };

  readonly campaigns = {
    list: (query: ListQuery<'listCampaigns'> = {}) => this.all('listCampaigns', { query }),
    get: async (id: string) => (await this.call('getCampaign', { path: { id } })).data,
    create: async (body: Body<'createCampaign'>) => (await this.call('createCampaign', { body })).data,
    send: async (id: string, body: Body<'sendCampaign'> = {}) =>
      (await this.call('sendCampaign', { path: { id }, body })).data,
    stats: async (id: string) => (await this.call('getCampaignStats', { path: { id } })).data,
  };

  readonly workflows = {
    list: (query: ListQuery<'listWorkflows'> = {}) => this.all('listWorkflows', { query }),
    get: (id: string) => this.call('getWorkflow', { path: { id } }),
    /** Publishes a whole graph. */
    replaceGraph: (id: string, body: Body<'replaceWorkflowGraph'>) =>
      this.call('replaceWorkflowGraph', { path: { id }, body }),
  };

  readonly webhookEndpoints = {
    list: () => this.call('listWebhookEndpoints'),
    /** The answer has the signing secret, which is not shown again. */
    create: (body: Body<'createWebhookEndpoint'>) => this.call('createWebhookEndpoint', { body }),
    delete: (id: string) => this.call('deleteWebhookEndpoint', { path: { id } }),
  };

  #request<Answer>(id: OperationId, { path = {}, query, body }: AnyInput, options?: CallOptions): Promise<Answer> {
    const [method, template, once] = operationTable[id] as readonly [string, string, 'once'?];
    const url = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])));
    return this.#http.call(method, url, { ...options, query, body, takesKey: once !== undefined });
  }
}

interface Page {
  data: unknown[];
  cursor?: string | null;
  hasMore?: boolean;
  page?: number;
  totalPages?: number;
}

function pageAfter({ cursor, hasMore, page, totalPages }: Page): { cursor: string } | { page: number } | null {
  if (typeof cursor === 'string' && hasMore !== false) return { cursor };
  return page !== undefined && totalPages !== undefined && page < totalPages ? { page: page + 1 } : null;
}

/** A webhook that the service has called with. */
export interface WebhookCall {
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

/**
 * Checks the signature of a webhook and returns what it says. `body` is the text as it was received.
 * @throws when the signature is not by this secret, or the call is older than five minutes
 */
export function verifyWebhook(body: string, headers: Headers | Record<string, string>, secret: string): WebhookCall {
  const given = headers instanceof Headers ? Object.fromEntries(headers) : headers;
  return new Webhook(secret).verify(body, given) as WebhookCall;
}
