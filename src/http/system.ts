import * as v from 'valibot';
import { AppError } from '../lib/errors.ts';
import { equalSecrets } from '../lib/seal.ts';
import type { HttpMetrics } from './metrics.ts';
import { type Route, reply, route } from './route.ts';

const read = { access: 'none', tag: 'service' } as const;

/** Routes about the service itself: liveness, readiness, metrics and the API's description. */
export function systemRoutes(metrics: HttpMetrics, description: () => unknown): Route[] {
  return [
    route.get('/health', {
      ...read,
      summary: 'Whether the process lives',
      description: 'Asks no dependency.',
      returns: 'The process is running; `status` is `ok`.',
      reply: v.object({ status: v.literal('ok') }),
      handle: () => ({ status: 'ok' }),
    }),
    route.get('/ready', {
      ...read,
      summary: 'Whether Postgres and Temporal answer',
      description:
        '503 with the state of each dependency when one of them does not. `warnings` is there when something is about to go wrong although both answer, such as clocks that differ by more than 30 seconds or a Temporal that starts no work; it does not change the status.',
      query: v.object({
        ignore: v.optional(
          v.pipe(
            v.literal('temporal', 'must be "temporal"'),
            v.description('For load balancers: an API process accepts mail while Temporal is away.'),
          ),
        ),
      }),
      returns: 'The service is ready; `checks` has the state of each dependency.',
      reply: v.object({
        status: v.picklist(['ok', 'unavailable']),
        checks: v.record(v.string(), v.string()),
        warnings: v.optional(v.pipe(v.array(v.string()), v.description('Absent when there are none.'))),
      }),
      async handle({ app, query }) {
        const [postgres, temporal, warnings] = await Promise.all([
          app.checks.postgres(),
          app.checks.temporal(),
          app.warnings(),
        ]);
        const ready = postgres === 'ok' && (temporal === 'ok' || query.ignore === 'temporal');
        return reply(ready ? 200 : 503, {
          status: ready ? 'ok' : 'unavailable',
          checks: { postgres, temporal },
          ...(warnings.length > 0 ? { warnings } : {}),
        });
      },
    }),
    route.get('/metrics', {
      ...read,
      summary: 'Figures in the text form of Prometheus',
      description:
        'Needs `Authorization: Bearer <METRICS_TOKEN>`; without that setting the path does not exist here, and figures are served on API_METRICS_PORT only.',
      returns: 'The figures, in the text format of Prometheus.',
      textReply: 'text/plain',
      async handle({ app, header }) {
        requireToken(app.config.METRICS_TOKEN, header('authorization'));
        return reply(200, await metrics.text(), { 'Content-Type': metrics.registry.contentType });
      },
    }),
    route.get('/openapi.json', {
      ...read,
      summary: 'This description, as OpenAPI 3.1',
      operationId: 'getOpenApiDocument',
      returns: 'The OpenAPI document that describes this API.',
      handle: () => description(),
    }),
  ];
}

// Figures tell a stranger how much mail a deployment sends and how it is doing.
function requireToken(token: string | null, authorization: string): void {
  if (token === null)
    throw new AppError(404, 'RESOURCE_NOT_FOUND', 'GET /metrics is not served on this port', {
      suggestion: 'Set API_METRICS_PORT for a port of its own, or METRICS_TOKEN to read it here.',
    });
  const suggestion = 'Send the header "Authorization: Bearer <METRICS_TOKEN>".';
  const [scheme = '', sent = ''] = authorization.split(' ');
  if (scheme.toLowerCase() !== 'bearer' || sent === '')
    throw new AppError(401, 'MISSING_AUTH', 'GET /metrics needs a token', { suggestion });
  if (!equalSecrets(sent, token))
    throw new AppError(401, 'INVALID_API_KEY', 'This is not the token of METRICS_TOKEN', { suggestion });
}
