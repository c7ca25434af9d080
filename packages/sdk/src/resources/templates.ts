import type { CallOptions } from '../http.ts';
import type { WithElements } from '../react.ts';
import type { Body, ListQuery } from '../types.ts';
import { Resource } from './resource.ts';

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
