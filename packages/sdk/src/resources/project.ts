import type { OperationClient } from '../client.ts';
import type { CallOptions } from '../http.ts';
import { PagePromise } from '../pages.ts';
import { ApiPromise } from '../responses.ts';
import type { Body, Input, ListQuery, Reply } from '../types.ts';
import { Resource } from './workflows.ts';

/** Finds out once which project a key belongs to. */
export class ProjectId {
  readonly #client: OperationClient;
  #known: Promise<string> | undefined;

  constructor(client: OperationClient, known: string | undefined) {
    this.#client = client;
    this.#known = known === undefined ? undefined : Promise.resolve(known);
  }

  /** @throws FernpostError for a key with scopes: it cannot read its project */
  get(options?: CallOptions): Promise<string> {
    this.#known ??= this.#client
      .call('listProjects', {}, options)
      .then(([project]) => project?.id ?? Promise.reject(new TypeError('The key belongs to no project.')))
      .catch((error: unknown) => {
        this.#known = undefined;
        throw error;
      });
    return this.#known;
  }
}

abstract class ProjectResource extends Resource {
  protected readonly projectId: ProjectId;

  constructor(client: OperationClient, projectId: ProjectId) {
    super(client);
    this.projectId = projectId;
  }
}

/** Domains that mail is sent from. They need the secret key. */
export class Domains extends ProjectResource {
  list(options?: CallOptions) {
    const find = async () =>
      this.client
        .call('listDomains', { path: { projectId: await this.projectId.get(options) } }, options)
        .withResponse();
    return new PagePromise<Domain, Domain[]>(find);
  }
  /** Adds a domain; the response has the DNS records to publish. */
  create(domain: string, options?: CallOptions) {
    return this.client.call('addDomain', { body: { domain } }, options);
  }
  /** Looks its DNS records up, and says which are there. */
  verify(id: string, options?: CallOptions) {
    return this.client.call('checkDomain', { path: { id } }, options);
  }
  /** Checks its DMARC record and returns advice. */
  checkDmarc(id: string, options?: CallOptions) {
    return this.client.call('checkDmarc', { path: { id } }, options);
  }
  delete(id: string, options?: CallOptions) {
    return this.client.call('deleteDomain', { path: { id } }, options);
  }
}

/** Keys of the project. Only people can create them: in the dashboard, or by `fernpost keys create`. */
export class Keys extends ProjectResource {
  /** Keys with scopes, without their secrets. */
  list(options?: CallOptions) {
    const find = async () =>
      this.client
        .call('listProjectApiKeys', { path: { id: await this.projectId.get(options) } }, options)
        .withResponse();
    return new PagePromise<ApiKey, ApiKey[]>(find);
  }
}

/** The control group: a share of contacts that get no marketing email. It needs the secret key. */
export class Holdout extends ProjectResource {
  get(options?: CallOptions) {
    return this.#ofProject(options, (path) => this.client.call('getHoldout', { path }, options));
  }
  /** A larger share keeps the contacts of a smaller one. */
  set(body: Body<'setHoldout'>, options?: CallOptions) {
    return this.#ofProject(options, (path) => this.client.call('setHoldout', { path, body }, options));
  }
  end(options?: CallOptions) {
    return this.#ofProject(options, (path) => this.client.call('endHoldout', { path }, options));
  }

  #ofProject<Data>(options: CallOptions | undefined, call: (path: { id: string }) => ApiPromise<Data>) {
    return new ApiPromise(this.projectId.get(options).then((id) => call({ id }).withResponse()));
  }
}

type Domain = Reply<'listDomains'>[number];
type ApiKey = Reply<'listProjectApiKeys'>[number];

/** Addresses of yours that the service calls with events. `verifyWebhook` checks its calls. */
export class WebhookEndpoints extends Resource {
  list(options?: CallOptions) {
    return this.client.list('listWebhookEndpoints', {}, options);
  }
  get(id: string, options?: CallOptions) {
    return this.client.call('getWebhookEndpoint', { path: { id } }, options);
  }
  /** The response has the signing secret, which is not shown again. */
  create(body: Body<'createWebhookEndpoint'>, options?: CallOptions) {
    return this.client.call('createWebhookEndpoint', { body }, options);
  }
  update(id: string, body: NonNullable<Body<'updateWebhookEndpoint'>>, options?: CallOptions) {
    return this.client.call('updateWebhookEndpoint', { path: { id }, body }, options);
  }
  delete(id: string, options?: CallOptions) {
    return this.client.call('deleteWebhookEndpoint', { path: { id } }, options);
  }
  /** A new signing secret; the old one signs too for `overlapHours`. */
  rotateSecret(id: string, body: NonNullable<Body<'rotateWebhookEndpointSecret'>> = {}, options?: CallOptions) {
    return this.client.call('rotateWebhookEndpointSecret', { path: { id }, body }, options);
  }
  /** Calls the endpoint with an event made up for it. */
  test(id: string, body: NonNullable<Body<'testWebhookEndpoint'>> = {}, options?: CallOptions) {
    return this.client.call('testWebhookEndpoint', { path: { id }, body }, options);
  }
  listDeliveries(id: string, query: ListQuery<'listWebhookEndpointDeliveries'> = {}, options?: CallOptions) {
    return this.client.list('listWebhookEndpointDeliveries', { path: { id }, query }, options);
  }
  getDelivery(id: string, eventId: string, options?: CallOptions) {
    return this.client.call('getWebhookEndpointDelivery', { path: { id, eventId } }, options);
  }
  redeliver(id: string, eventId: string, options?: CallOptions) {
    return this.client.call('redeliverWebhookEndpointDelivery', { path: { id, eventId } }, options);
  }
  /** Delivers the events of a span again. */
  replay(id: string, body: Body<'replayWebhookEndpoint'>, options?: CallOptions) {
    return this.client.call('replayWebhookEndpoint', { path: { id }, body }, options);
  }
  /** Whether every event of a span was delivered. */
  audit(id: string, query: Input<'getWebhookEndpointAudit'>['query'], options?: CallOptions) {
    return this.client.call('getWebhookEndpointAudit', { path: { id }, query }, options);
  }
}
