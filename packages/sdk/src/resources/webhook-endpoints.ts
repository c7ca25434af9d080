import type { CallOptions } from '../http.ts';
import type { Body, Input, ListQuery } from '../types.ts';
import { Resource } from './resource.ts';

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
