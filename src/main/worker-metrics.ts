import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Registry } from 'prom-client';
import type { SdkMetricsUrl } from './temporal-runtime.ts';

/** Serves `GET /health` and `GET /metrics` of a worker; figures of the Temporal SDK follow ours. */
export async function serveWorkerMetrics(
  port: number,
  host: string,
  registry: Registry,
  sdk: SdkMetricsUrl,
): Promise<Server> {
  const server = createServer((request, response) => {
    void answer(request.url ?? '').then(
      ({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body),
      (error: Error) => response.writeHead(500, { 'content-type': 'text/plain' }).end(error.message),
    );
  });
  const listening = once(server, 'listening');
  server.listen(port, host);
  await listening;
  return server;

  async function answer(url: string): Promise<{ status: number; type: string; body: string }> {
    const path = url.split('?', 1)[0];
    if (path === '/health') return { status: 200, type: 'application/json', body: '{"status":"ok"}' };
    if (path !== '/metrics') return { status: 404, type: 'text/plain', body: 'Only /health and /metrics are here\n' };
    const [ours, theirs] = await Promise.all([registry.metrics(), sdk === null ? '' : readFigures(sdk)]);
    return { status: 200, type: registry.contentType, body: `${ours}\n${theirs}` };
  }
}

// Our own figures are worth having even where the SDK cannot be asked.
async function readFigures(url: string): Promise<string> {
  try {
    return await (await fetch(url, { signal: AbortSignal.timeout(2000) })).text();
  } catch {
    return '';
  }
}
