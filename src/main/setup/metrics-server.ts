import { serve } from '../../http/server/server.ts';
import type { SdkMetricsUrl } from '../temporal/temporal-runtime.ts';

/** What a port of metrics answers `GET /metrics` with. */
export interface MetricsSource {
  contentType: string;
  text(): Promise<string>;
  /** Answers `GET /ready`; without it the path does not exist. */
  isReady?: () => boolean;
}

/** A port of metrics that is open. */
export interface MetricsServer {
  /** Lets a reader finish, for a second at most. */
  close(): Promise<unknown>;
}

const figuresMayTakeMs = 1_000;

/** Serves `GET /health`, `GET /metrics` and, where the source has it, `GET /ready` on a port of their own. @throws EADDRINUSE and its like */
export async function serveMetrics(port: number, host: string, source: MetricsSource): Promise<MetricsServer> {
  const server = await serve(
    (request, response) => {
      void answer(request.url ?? '').then(
        ({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body),
        (error: Error) => response.writeHead(500, { 'content-type': 'text/plain' }).end(error.message),
      );
    },
    { port, host },
  );
  return { close: () => server.stop({ graceMs: figuresMayTakeMs }) };

  async function answer(url: string): Promise<{ status: number; type: string; body: string }> {
    const path = url.split('?', 1)[0];
    if (path === '/health') return { status: 200, type: 'application/json', body: '{"status":"ok"}' };
    if (path === '/ready' && source.isReady) {
      const ready = source.isReady();
      const body = JSON.stringify({ status: ready ? 'ok' : 'unavailable' });
      return { status: ready ? 200 : 503, type: 'application/json', body };
    }
    if (path !== '/metrics') return { status: 404, type: 'text/plain', body: 'Only /health and /metrics are here\n' };
    return { status: 200, type: source.contentType, body: await source.text() };
  }
}

/** The figures of the Temporal SDK as text; empty when it does not answer, for our own are worth having without them. */
export async function sdkMetrics(url: SdkMetricsUrl): Promise<string> {
  if (url === null) return '';
  try {
    return await (await fetch(url, { signal: AbortSignal.timeout(2000) })).text();
  } catch {
    return '';
  }
}
