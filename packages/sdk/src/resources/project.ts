import type { OperationClient } from '../client.ts';
import type { CallOptions } from '../http.ts';
import { PagePromise } from '../pages.ts';
import type { Reply } from '../types.ts';
import { Resource } from './resource.ts';

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
  /** What its DMARC record says, and what to change. */
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

type Domain = Reply<'listDomains'>[number];
type ApiKey = Reply<'listProjectApiKeys'>[number];
