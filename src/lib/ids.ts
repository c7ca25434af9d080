import { createHash, randomBytes } from 'node:crypto';
import { AppError, badRequest } from './errors.ts';

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

let lastMillis = 0;
let counter = 0;
let pool = randomBytes(8192);
let poolOffset = 0;

// A clock that goes back further was wrong before: ids that followed it would be from the future until the process ends.
const longestStepBack = 3_600_000;

/**
 * A UUID version 7 (RFC 9562): 48 bits of milliseconds, then a 12-bit counter that keeps ids of one process and
 * one millisecond in order, then 62 random bits.
 */
export function newId(now: number = Date.now()): string {
  if (now > lastMillis || now < lastMillis - longestStepBack) {
    lastMillis = now;
    counter = (nextRandom(2).readUInt16BE(0) & 0x7ff) >>> 0;
  } else if (++counter > 0xfff) {
    lastMillis += 1;
    counter = 0;
  }
  return uuid7(lastMillis, counter, nextRandom(8));
}

/** The UUID version 7 of an instant in milliseconds, a counter of 12 bits and 8 bytes. */
export function uuid7(millis: number, count: number, rest: Buffer): string {
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeUIntBE(millis, 0, 6);
  bytes.writeUInt16BE(0x7000 | count, 6);
  rest.copy(bytes, 8, 0, 8);
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Smaller than every id: where a walk in the order of ids begins. A comparison with it can use an index; one with null cannot. */
export const leastId = '00000000-0000-0000-0000-000000000000';

/** Greater than every id. */
export const greatestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The least id that `newId` could make at an instant: smaller ones are older. */
export function firstIdAt(at: Date): string {
  const hex = at.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** The instant that an id was made at. */
export function instantOf(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));
}

/** Whether the text is a UUID of any version. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}

// One call into the kernel fills many ids; a call for each id would cost more than the rest of the function.
function nextRandom(size: number): Buffer {
  if (poolOffset + size > pool.length) {
    pool = randomBytes(8192);
    poolOffset = 0;
  }
  poolOffset += size;
  return pool.subarray(poolOffset - size, poolOffset);
}

/** Something that counts its edits. */
interface Revised {
  id: string;
  revision: number;
  updatedAt: Date;
}

/** The `ETag` of a revision. */
export function etagOf(revision: number): string {
  return `"${revision}"`;
}

/**
 * Refuses an edit by somebody who has seen another revision; the row must be locked. `path` is where it is read.
 * @throws 412 PRECONDITION_FAILED with the current revision and its ETag, 400 for an `If-Match` that is no list of tags
 */
export function checkSeen(kind: string, path: string, { id, revision, updatedAt }: Revised, ifMatch: string): void {
  if (hasSeen(revision, ifMatch, path)) return;
  throw stale(`This ${kind} was changed since you read it (${updatedAt.toISOString()})`, path, revision, {
    resource: kind,
    id,
    revision,
    changedAt: updatedAt.toISOString(),
  });
}

/** 412 with the current revision; `changed` says what happened, as the beginning of a sentence. */
export function stale(changed: string, path: string, revision: number, details: Record<string, unknown>): AppError {
  return new AppError(412, 'PRECONDITION_FAILED', `${changed}: nothing of your edit was made`, {
    details,
    suggestion: `Read it again with GET ${path}, bring your edit in line, and send it with the new ETag.`,
    headers: { ETag: etagOf(revision) },
  });
}

// Proxies that compress an answer make its tag weak (RFC 9110, 8.8.1). A revision means the same either way.
const tag = /^(?:W\/)?"([^"]*)"$/;

/** Whether `If-Match` allows an edit of this revision; an empty header and `*` allow any. @throws 400 when it is no list of tags */
export function hasSeen(revision: number, ifMatch: string, path: string): boolean {
  if (ifMatch === '' || ifMatch.trim() === '*') return true;
  const seen = ifMatch.split(',').map((each) => {
    const [, value] = tag.exec(each.trim()) ?? [];
    if (value === undefined) throw badRequest(`"If-Match" must be the ETag of GET ${path}, quotes included`);
    return value;
  });
  return seen.includes(String(revision));
}

/** The place of an ID within a time, in milliseconds: evenly spread, since the last digits of an ID are random; those before are its time. */
export function placeWithin(id: string, ms: number): number {
  return Number.parseInt(id.slice(-8), 16) % ms;
}

/** The UUID that Postgres makes of a text by `md5(…)::uuid`: the same whenever it is asked. */
export function idByHash(text: string): string {
  const hex = createHash('md5').update(text).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/**
 * The place of an ID among 10,000, by a hash of a key and the ID: below 2,500 for a quarter of all IDs, and the same whenever it is asked. Places of one ID
 * under two keys do not depend on each other.
 */
export function placeByHash(key: string, id: string): number {
  const hash = createHash('sha256').update(`${key}\n${id}`).digest();
  // 48 bits leave no remainder that a share of a hundredth of a percent would notice.
  return Math.floor((hash.readUIntBE(0, 6) / 2 ** 48) * 10_000);
}
