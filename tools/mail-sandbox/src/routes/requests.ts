import type { Context, Middleware } from 'koa';
import getRawBody from 'raw-body';
import type { Outages } from '../behavior/check.ts';
import type { Faults, Service } from '../behavior/faults.ts';
import type { Outcomes } from '../behavior/outcomes.ts';
import type { Webhooks } from '../behavior/webhooks.ts';
import type { Domains } from '../domains.ts';
import type { MessageStore } from '../store/store.ts';

/** The parts that the routes of the sandbox share. */
export interface Parts {
  store: MessageStore;
  domains: Domains;
  faults: Faults;
  outages: Outages;
  outcomes: Outcomes;
  webhooks: Webhooks | null;
  budget: ByteBudget;
  service: Service;
  /** Calls of the sending paths since the process started. */
  calls: { count: number };
  /** Whether the search shows a message by now. */
  searchable: (id: string, at: number) => boolean;
  /** Aborted when the sandbox closes. */
  closing: AbortSignal;
}

/** A request body that was not read, with the HTTP status that says why. */
export class BodyError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'BodyError';
    this.status = status;
  }
}

/** Bounds how many bytes of request bodies are in memory at once; who finds it full waits for its turn. */
interface ByteBudget {
  /** Resolves when the bytes are granted; call the result to give them back. */
  take(bytes: number): Promise<() => void>;
}

/** A request larger than the whole budget is granted when it is alone. */
export function createByteBudget(limit: number): ByteBudget {
  let used = 0;
  const waiting: { bytes: number; grant: () => void }[] = [];

  function grantNext(): void {
    for (let next = waiting[0]; next && (used === 0 || used + next.bytes <= limit); next = waiting[0]) {
      waiting.shift();
      used += next.bytes;
      next.grant();
    }
  }

  return {
    take(bytes) {
      return new Promise((resolve) => {
        const release = () => {
          used -= bytes;
          grantNext();
        };
        waiting.push({ bytes, grant: () => resolve(release) });
        grantNext();
      });
    },
  };
}

/** Reads the whole body. Throws a `BodyError`: 413 when it is larger than the limit, 400 when it was cut short. */
export async function readBody(ctx: Context, limit: number): Promise<Buffer> {
  try {
    return await getRawBody(ctx.req, { limit, length: ctx.request.length ?? null });
  } catch (error) {
    const tooLarge = error instanceof Error && 'type' in error && error.type === 'entity.too.large';
    throw tooLarge ? new BodyError(413, 'The request is too large.') : new BodyError(400, 'The request was cut short.');
  }
}

/** Reads a JSON body. Throws a `BodyError` with 400 when it is no JSON. */
export async function readJson(ctx: Context, limit: number): Promise<unknown> {
  const body = await readBody(ctx, limit);
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch {
    throw new BodyError(400, 'The body is not valid JSON.');
  }
}

/** Reads the fields of a form that a browser has posted. */
export async function readForm(ctx: Context, limit: number): Promise<URLSearchParams> {
  if (!ctx.is('application/x-www-form-urlencoded')) throw new BodyError(415, 'A form is expected.');
  return new URLSearchParams((await readBody(ctx, limit)).toString());
}

/** Whether a listening address can only be reached from this machine. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/**
 * Keeps other web sites out. While the sandbox listens on loopback only, a request must name this machine as its host,
 * so that a foreign name that resolves to 127.0.0.1 (DNS rebinding) reads nothing. A request that a browser sends from
 * another origin changes nothing.
 */
export function guard(listeningHost: string): Middleware {
  const local = isLoopback(listeningHost);
  return async (ctx, next) => {
    if (local && !isLocalName(ctx.get('Host'))) return refuse(ctx, 'This host name is not served here.');
    const reads = ctx.method === 'GET' || ctx.method === 'HEAD' || ctx.method === 'OPTIONS';
    if (!reads && isForeign(ctx)) return refuse(ctx, 'Requests from other web sites are refused.');
    await next();
  };
}

/** The headers of every answer; a page or message may replace the policy with one of its own. */
export const securityHeaders: Middleware = async (ctx, next) => {
  ctx.set({
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    'Cache-Control': 'no-store',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    // Not "no-referrer": with it, browsers name no origin when they post our own forms.
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  });
  await next();
};

function refuse(ctx: Context, message: string): void {
  ctx.status = 403;
  ctx.body = { error: message };
}

function isLocalName(host: string): boolean {
  const name = host.toLowerCase().replace(/:\d+$/, '');
  return isLoopback(name.replace(/^\[(.*)\]$/, '$1')) || name.endsWith('.localhost');
}

function isForeign(ctx: Context): boolean {
  const origin = ctx.get('Origin');
  if (origin !== '') return !URL.canParse(origin) || new URL(origin).host !== ctx.get('Host').toLowerCase();
  const site = ctx.get('Sec-Fetch-Site');
  return site !== '' && site !== 'same-origin' && site !== 'none';
}
