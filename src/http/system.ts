import * as v from 'valibot';
import type { HttpMetrics } from './metrics.ts';
import { openApiDocument } from './openapi.ts';
import { type Route, reply, route } from './route.ts';

/** Routes about the service itself: liveness, readiness, metrics and the API's description. */
export function systemRoutes(metrics: HttpMetrics, routes: readonly Route[]): Route[] {
  let document: unknown;
  const own = [
    route({
      method: 'GET',
      path: '/health',
      access: 'none',
      summary: 'Whether the process lives',
      description: 'Asks no dependency.',
      tag: 'service',
      reply: v.object({ status: v.literal('ok') }),
      handle: () => ({ status: 'ok' }),
    }),
    route({
      method: 'GET',
      path: '/ready',
      access: 'none',
      summary: 'Whether Postgres and Temporal answer',
      description: '503 with the state of each dependency when one of them does not.',
      tag: 'service',
      reply: v.object({ status: v.picklist(['ok', 'unavailable']), checks: v.record(v.string(), v.string()) }),
      async handle({ app }) {
        const [postgres, temporal] = await Promise.all([app.checks.postgres(), app.checks.temporal()]);
        const ready = postgres === 'ok' && temporal === 'ok';
        return reply(ready ? 200 : 503, { status: ready ? 'ok' : 'unavailable', checks: { postgres, temporal } });
      },
    }),
    route({
      method: 'GET',
      path: '/metrics',
      access: 'none',
      summary: 'Figures in the text form of Prometheus',
      tag: 'service',
      handle: async () =>
        reply(200, await metrics.registry.metrics(), { 'Content-Type': metrics.registry.contentType }),
    }),
    route({
      method: 'GET',
      path: '/openapi.json',
      access: 'none',
      summary: 'This description, as OpenAPI 3.1',
      tag: 'service',
      handle({ app }) {
        document ??= openApiDocument([...own, ...routes], app.config.API_URI);
        return document;
      },
    }),
  ];
  return own;
}
