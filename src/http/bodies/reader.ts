import type { IncomingMessage } from 'node:http';
import type { BodyBudget, BodyHold } from './budget.ts';
import { BodyError, busy, exceededLimit, findNul, type JsonLimits, malformed, tooLarge, wellFormed } from './json.ts';

/** How large a body may be: its bytes and, as JSON, its levels and values. */
export interface BodyLimit extends JsonLimits {
  bytes: number;
}

/** Whose memory a body takes. */
export interface BodyMemory {
  budget: BodyBudget;
  owner: string;
}

/** A parsed body, and what to suggest when it turns out not to fit. */
export interface JsonBody {
  value: unknown;
  /** Set when the body was not read because of its Content-Type. */
  suggestion?: string;
}

/** Reads one request's body and keeps account of its memory until `release`. */
export class BodyReader {
  #hold: BodyHold | null = null;

  /**
   * Reads a JSON object or array: an empty body is `{}`; one of another content type is not read and counts as `{}`.
   * `readText` reads the text in place of this reader, as for `readBy`.
   * @throws BodyError
   */
  async json(
    request: IncomingMessage,
    limit: BodyLimit,
    memory: BodyMemory,
    readText?: () => Promise<string>,
  ): Promise<JsonBody> {
    const { 'content-type': contentType = '', 'content-encoding': contentEncoding = '' } = request.headers;
    const type = contentType.replace(/;.*/s, '').trim().toLowerCase();
    if (type !== '' && type !== 'application/json' && !type.endsWith('+json')) {
      discard(request);
      return {
        value: {},
        suggestion: `The body was not read: send it with "Content-Type: application/json", not "${type}".`,
      };
    }
    const encoding = contentEncoding.trim().toLowerCase();
    if (encoding !== '' && encoding !== 'identity') {
      discard(request);
      throw malformed(`A body with "Content-Encoding: ${encoding}" is not read: send it as it is`);
    }
    if (readText === undefined) return { value: parseObject(await this.text(request, limit, memory)) };
    const text = await this.readBy(readText, request, limit.bytes, memory);
    checkShape(Buffer.from(text), limit);
    return { value: parseObject(text) };
  }

  /**
   * Reads the text of a JSON body that is parsed elsewhere, whatever its content type.
   * @throws BodyError
   */
  async text(request: IncomingMessage, limit: BodyLimit, memory: BodyMemory): Promise<string> {
    return textOfJson(await this.bytes(request, limit.bytes, memory), limit);
  }

  /**
   * Reads the bytes of a body, of which there may be so many.
   * @throws BodyError
   */
  bytes(request: IncomingMessage, most: number, memory: BodyMemory): Promise<Buffer> {
    return this.#within(request, most, Math.min(firstGuess, most), memory, (hold) => collect(request, most, hold));
  }

  /**
   * Reads a body by another reader, which rejects with a `status` of 413 when it is larger than `most`. That reader cannot ask for
   * more memory, so a body of unannounced length takes the most that it may have.
   * @throws BodyError
   */
  readBy<T>(read: () => Promise<T>, request: IncomingMessage, most: number, memory: BodyMemory): Promise<T> {
    return this.#within(request, most, most, memory, async () => {
      try {
        return await read();
      } catch (error) {
        throw (error as { status?: number }).status === 413 ? tooLarge(most) : malformed(brokenOff);
      }
    });
  }

  async #within<T>(
    request: IncomingMessage,
    most: number,
    guess: number,
    { budget, owner }: BodyMemory,
    read: (hold: BodyHold) => Promise<T>,
  ): Promise<T> {
    const declared = request.headers['content-length'];
    try {
      if (declared !== undefined && Number(declared) > most) throw tooLarge(most);
      this.#hold = await budget.take(owner, declared === undefined ? guess : Number(declared));
      return await read(this.#hold);
    } catch (error) {
      discard(request);
      throw error;
    }
  }

  /** Gives the memory of the body back; call it when nothing refers to the body any more. */
  release(): void {
    this.#hold?.release();
    this.#hold = null;
  }
}

// Bytes set aside for a body of unannounced length until more of it has come.
const firstGuess = 64 * 1024;

function collect(request: IncomingMessage, limit: number, hold: BodyHold): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const finish = (settle: () => void) => {
      request.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      settle();
    };
    const onData = (piece: Buffer) => {
      length += piece.length;
      if (length > limit) finish(() => reject(tooLarge(limit)));
      else if (length > hold.bytes && !hold.growTo(Math.min(limit, 2 * length))) finish(() => reject(busy()));
      else pieces.push(piece);
    };
    const onEnd = () => finish(() => resolve(Buffer.concat(pieces, length)));
    const onBroken = () => finish(() => reject(malformed(brokenOff)));
    // It may have broken off while it waited for memory.
    if (request.destroyed && !request.readableEnded) return reject(malformed(brokenOff));
    request.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}

const brokenOff = 'The body could not be read: the connection ended before its announced length';
const mostDiscarded = 64 * 1024 * 1024;

/**
 * Reads the rest of a body and keeps nothing of it, because many clients look for an answer only when they have sent all
 * of a request. The connection is cut after 64 MB.
 */
export function discard(request: IncomingMessage): void {
  let length = 0;
  request.on('data', (piece: Buffer) => {
    length += piece.length;
    if (length > mostDiscarded) request.destroy();
  });
  request.on('error', () => {});
  request.resume();
}

function textOfJson(bytes: Buffer, limits: JsonLimits): string {
  checkShape(bytes, limits);
  const text = bytes.toString('utf8');
  // Some editors and shells put a byte order mark first, which a reader of JSON may ignore (RFC 8259, 8.1).
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

function checkShape(bytes: Buffer, limits: JsonLimits): void {
  const exceeded = exceededLimit(bytes, limits);
  const { levels, values } = limits;
  if (exceeded === 'levels') throw malformed(`The body is nested deeper than ${levels} levels`);
  if (exceeded === 'values') throw malformed(`The body has more than ${values} values`);
}

function parseObject(text: string): unknown {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw malformed(`The body is not valid JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null) throw malformed('The body must be a JSON object');
  // The escape can only stand in the text when a string holds the character, so the walk is rarely needed.
  if (text.includes('\\u0000')) {
    const path = findNul(value);
    if (path !== null) throw new BodyError({ kind: 'nul', path }, 'Strings must not contain the character U+0000');
  }
  // Half a surrogate pair is no character: databases refuse it.
  return /\\u[dD][89a-fA-F]/.test(text) ? wellFormed(value) : value;
}
