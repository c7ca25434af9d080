import { Webhook } from 'standardwebhooks';
import { type CallOptions, type ClientOptions, Http } from './http.ts';
import type { components, operations } from './schema.d.ts';

export { type CallOptions, type ClientOptions, PosthornError } from './http.ts';

type Schemas = components['schemas'];
type QueryOf<Id extends keyof operations> = NonNullable<operations[Id]['parameters']['query']>;
type ListQuery<Id extends keyof operations> = Omit<QueryOf<Id>, 'cursor' | 'page'>;

/** A contact of the project. */
export type Contact = Schemas['Contact'];
/** An email with what happened to it. */
export type Email = Schemas['Email'];
/** A recipient of `send` with the id of their email. */
export type SentEmail = Schemas['SendEmailResponse']['data']['emails'][number];

interface CursorPage<Item> {
  data: Item[];
  cursor: string | null;
  hasMore: boolean;
}

/** A client of the API of one project. Its methods are named as the operations of `/openapi.json`. */
export class Posthorn {
  readonly #http: Http;

  constructor(options: ClientOptions) {
    this.#http = new Http(options);
  }

  /** Sends an email to each recipient; returns when all are durably queued. Repeated attempts send once. */
  async send(body: Schemas['SendEmailRequest'], options?: CallOptions): Promise<SentEmail[]> {
    const call = { ...options, body, takesKey: true };
    return (await this.#http.call<Schemas['SendEmailResponse']>('POST', '/v1/send', call)).data.emails;
  }

  /** Records an event of a contact, who is created if they are new. Takes the public key. */
  async track(body: Schemas['TrackEventRequest'], options?: CallOptions): Promise<{ contact: string; event: string }> {
    const call = { ...options, body, takesKey: true };
    return (await this.#http.call<Schemas['TrackEventResponse']>('POST', '/v1/track', call)).data;
  }

  readonly emails = {
    get: (id: string) => this.#http.call<Email>('GET', `/v1/emails/${encodeURIComponent(id)}`),
    /** Every email that fits, the latest first. */
    list: (query: ListQuery<'listEmails'>) => this.#cursorList<Schemas['EmailSummary']>('/v1/emails', query),
  };

  readonly contacts = {
    get: (id: string) => this.#http.call<Contact>('GET', `/contacts/${encodeURIComponent(id)}`),
    list: (query: ListQuery<'listContacts'> = {}) => this.#cursorList<Contact>('/contacts', query),
    /** Creates the contact of an address, or updates it. */
    upsert: (body: Schemas['UpsertContactRequest']) =>
      this.#http.call<Schemas['UpsertContactResponse']>('POST', '/contacts', { body }),
    update: (id: string, body: Schemas['UpdateContactRequest']) =>
      this.#http.call<Contact>('PATCH', `/contacts/${encodeURIComponent(id)}`, { body }),
    delete: (id: string) => this.#http.call<void>('DELETE', `/contacts/${encodeURIComponent(id)}`),
  };

  readonly campaigns = {
    list: (query: ListQuery<'listCampaigns'> = {}) => this.#campaigns(query),
    get: async (id: string) =>
      (await this.#http.call<Schemas['GetCampaignResponse']>('GET', `/campaigns/${encodeURIComponent(id)}`)).data,
    create: async (body: Schemas['CreateCampaignRequest']) =>
      (await this.#http.call<Schemas['CreateCampaignResponse']>('POST', '/campaigns', { body })).data,
    send: async (id: string, body: Schemas['SendCampaignRequest'] = {}) =>
      (
        await this.#http.call<Schemas['SendCampaignResponse']>('POST', `/campaigns/${encodeURIComponent(id)}/send`, {
          body,
        })
      ).data,
  };

  readonly webhookEndpoints = {
    list: () => this.#http.call<Schemas['WebhookEndpoint'][]>('GET', '/webhook-endpoints'),
    /** The answer has the signing secret, which is not shown again. */
    create: (body: Schemas['CreateWebhookEndpointRequest']) =>
      this.#http.call<Schemas['WebhookEndpointWithSecret']>('POST', '/webhook-endpoints', { body }),
    delete: (id: string) => this.#http.call<void>('DELETE', `/webhook-endpoints/${encodeURIComponent(id)}`),
  };

  async *#cursorList<Item>(path: string, query: object): AsyncGenerator<Item, void> {
    let cursor: string | undefined;
    do {
      const page: CursorPage<Item> = await this.#http.call('GET', path, { query: { ...query, cursor } });
      yield* page.data;
      cursor = page.hasMore ? (page.cursor ?? undefined) : undefined;
    } while (cursor !== undefined);
  }

  async *#campaigns(query: object): AsyncGenerator<Schemas['CampaignWithSegment'], void> {
    for (let page = 1, pages = 1; page <= pages; page++) {
      const answer: Schemas['CampaignPage'] = await this.#http.call('GET', '/campaigns', { query: { ...query, page } });
      yield* answer.data;
      pages = answer.totalPages;
    }
  }
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
