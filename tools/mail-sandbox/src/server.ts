import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { Outages } from './behavior/check.ts';
import { Faults } from './behavior/faults.ts';
import { Outcomes } from './behavior/outcomes.ts';
import { Webhooks } from './behavior/webhooks.ts';
import { openDomains, providerDomainRoutes } from './domains.ts';
import { apiRoutes } from './routes/api-routes.ts';
import { inboxRoutes, problem } from './routes/inbox-routes.ts';
import { liveRoutes } from './routes/live-routes.ts';
import { lookupRoutes } from './routes/lookup-routes.ts';
import { BodyError, createByteBudget, guard, type Parts, securityHeaders } from './routes/requests.ts';
import { sendingRoutes } from './routes/sending-routes.ts';
import { MessageStore } from './store/store.ts';

/** A server that listens. */
interface HttpServer {
  port: number;
  /** Takes no new connections, and cuts requests that are still under way after so many milliseconds. */
  stop(graceMs: number): Promise<void>;
}

/** Starts an HTTP server. Rejects with the system's error, such as `EADDRINUSE`, when it cannot listen. */
export async function listen(listener: RequestListener, host: string, port: number): Promise<HttpServer> {
  let stopping = false;
  // Longer than clients keep idle connections, so that none is closed while a request is on its way.
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    if (stopping) response.shouldKeepAlive = false;
    response.once('close', () => {
      if (stopping) setImmediate(() => server.closeIdleConnections());
    });
    listener(request, response);
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop(graceMs) {
      stopping = true;
      const closed = once(server, 'close');
      server.close();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** The settings of the mail sandbox. */
export interface SandboxOptions {
  /** The address to listen on. On a loopback address, requests must name this machine as their host. */
  host: string;
  /** The port; 0 takes any free one. */
  port: number;
  /** A folder of its own for messages and domains, made if need be; null keeps everything in memory. */
  dataDir: string | null;
  /** Where Postmark's webhooks are posted; null for nowhere. */
  webhookUrl: string | null;
  /** HTTP Basic credentials of the webhook; an empty user sends none. */
  webhookUser: string;
  webhookPassword: string;
  /** Bases of the links of the service, which may be followed on request, its API first; none when absent. */
  serviceUrls?: readonly string[];
  /** Milliseconds until a message is delivered; twice that until it is opened, three times until clicked. 0: at once. */
  delayMs: number;
  /** Messages kept (default 10,000); the oldest leave first, totals go on counting. */
  keep?: number;
  /** Bytes of messages kept, whatever their number (default 2 GiB on disk, 512 MiB in memory). */
  keepBytes?: number;
  /** Waits before the second and later attempts at a webhook, in milliseconds (default 1, 2 and 5 seconds). */
  webhookRetryMs?: readonly number[];
  /** Whether the search shows a message by now; all of them at once when absent. Takes its ID and when it was accepted. */
  searchable?: (id: string, at: number) => boolean;
  /** Called with errors of the sandbox itself (default: to stderr). */
  onError?(error: unknown): void;
}

/** A running sandbox. */
export interface Sandbox {
  /** For example `http://127.0.0.1:8025`, without a slash at the end. */
  url: string;
  port: number;
  /** Stops; requests under way may take so many milliseconds (default 0) before they are cut. Stored messages stay. */
  close(graceMs?: number): Promise<void>;
}

// Enough for two of the largest calls at a time.
const bodyBudgetBytes = 128 << 20;

/**
 * Starts the mail sandbox: Postmark's HTTP API and a web inbox on one port. Rejects with the system's error when the
 * port is taken (`EADDRINUSE`) or the folder cannot be used.
 */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { dataDir } = options;
  const onError = options.onError ?? ((error: unknown) => console.error('Mail sandbox:', error));
  const closing = new AbortController();
  const store = new MessageStore({
    dataDir,
    keep: Math.max(1, options.keep ?? 10_000),
    keepBytes: options.keepBytes ?? (dataDir === null ? 512 << 20 : 2 ** 31),
  });
  const webhooks = options.webhookUrl
    ? new Webhooks({
        url: options.webhookUrl,
        user: options.webhookUser,
        password: options.webhookPassword,
        ...(options.webhookRetryMs ? { retryMs: options.webhookRetryMs } : {}),
      })
    : null;
  const outcomes = new Outcomes({ store, webhooks, delayMs: options.delayMs, onError });

  async function release(): Promise<void> {
    closing.abort();
    outcomes.clear();
    await webhooks?.close();
    store.close();
  }

  try {
    const parts: Parts = {
      store,
      domains: openDomains(dataDir),
      faults: new Faults(),
      outages: new Outages(),
      outcomes,
      webhooks,
      service: {
        publicUrls: options.serviceUrls ?? [],
        reachedAt: options.webhookUrl && new URL(options.webhookUrl).origin,
      },
      budget: createByteBudget(bodyBudgetBytes),
      calls: { count: 0 },
      searchable: options.searchable ?? (() => true),
      closing: closing.signal,
    };
    const server = await listen(createApp(parts, options.host, onError).callback(), options.host, options.port);
    // Outcomes that were planned when the process last ended still happen.
    outcomes.schedule(store.newest());
    const { port } = server;
    const stop = async (graceMs: number) => {
      // Calls that faults hold back on purpose are not waited for.
      closing.abort();
      await server.stop(graceMs);
      await release();
    };
    let stopped: Promise<void> | null = null;
    return {
      url: `http://${urlHost(options.host)}:${port}`,
      port,
      close(graceMs = 0) {
        stopped ??= stop(graceMs);
        return stopped;
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

function createApp(parts: Parts, host: string, onError: (error: unknown) => void): Koa {
  const app = new Koa();
  app.on('error', (error: unknown) => {
    if (!parts.closing.aborted) onError(error);
  });
  app.use(securityHeaders);
  app.use(guard(host));
  app.use(async (ctx, next) => {
    try {
      await next();
      if (ctx.respond !== false && ctx.status === 404 && ctx.body == null) answerError(ctx, 404, 'Nothing is here.');
    } catch (error) {
      if (error instanceof BodyError) return answerError(ctx, error.status, error.message);
      if (!parts.closing.aborted) onError(error);
      answerError(ctx, 500, 'The sandbox failed.');
    }
  });
  for (const routes of [sendingRoutes, lookupRoutes, providerDomainRoutes, apiRoutes, liveRoutes, inboxRoutes]) {
    const router = routes(parts);
    app.use(router.routes());
    app.use(router.allowedMethods());
  }
  return app;
}

function answerError(ctx: Koa.Context, status: number, message: string): void {
  if (ctx.path === '/' || /^\/inb(?:ox|ound)\b/.test(ctx.path)) problem(ctx, status, message);
  else {
    ctx.status = status;
    // Both the sandbox's own shape and Postmark's, since the path does not tell whose client is asking.
    ctx.body = { error: message, ErrorCode: 0, Message: message };
  }
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
