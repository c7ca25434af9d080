import type { Context } from 'koa';
import getRawBody from 'raw-body';

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
export interface ByteBudget {
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
