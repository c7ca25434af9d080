import { type IncomingMessage, SmtpReply } from '@fernpost/smtp-submission';
import type { SendBody } from '../transactional/index.ts';

/** What the headers `X-Fernpost-…` of a message ask for. */
export interface Directives {
  idempotencyKey: string | null;
  messageClass: 'TRANSACTIONAL' | 'MARKETING';
  tracking: boolean | undefined;
  template: string | undefined;
  scheduledFor: string | undefined;
  data: SendBody['data'];
  tags: SendBody['tags'];
}

const known = new Set(['idempotency-key', 'type', 'track', 'template', 'scheduled-for', 'data', 'tag']);
// Mail of this service carries them, and may be forwarded to it.
const ownMarks = new Set(['delivery', 'email', 'project']);

/** @throws SmtpReply 550 5.5.4 for a value that makes no sense, and for a header that does not exist */
export function readDirectives({ directives }: Pick<IncomingMessage, 'directives'>): Directives {
  for (const name of directives.keys())
    if (!known.has(name) && !ownMarks.has(name)) throw refused(name, 'is not a header of Fernpost');
  const only = (name: string): string | undefined => {
    const values = directives.get(name) ?? [];
    if (values.length > 1) throw refused(name, 'stands in the message more than once');
    return values[0];
  };
  const type = (only('type') ?? 'TRANSACTIONAL').toUpperCase();
  if (type !== 'TRANSACTIONAL' && type !== 'MARKETING') throw refused('type', 'must be TRANSACTIONAL or MARKETING');
  const idempotencyKey = only('idempotency-key') ?? null;
  if (idempotencyKey !== null && !/^[\x20-\x7e]{1,255}$/.test(idempotencyKey))
    throw refused('idempotency-key', 'must have 1 to 255 printable ASCII characters');
  return {
    idempotencyKey,
    messageClass: type,
    tracking: trackingOf(only('track')),
    template: only('template'),
    scheduledFor: only('scheduled-for'),
    data: dataOf(only('data')),
    tags: tagsOf(directives.get('tag') ?? []),
  };
}

function tagsOf(values: readonly string[]): SendBody['tags'] {
  if (values.length === 0) return undefined;
  const tags = values.map((value) => /^([\w-]{1,64})\s*=\s*(.+)$/.exec(value) ?? []);
  if (tags.some(({ length }) => length === 0)) throw refused('tag', 'must be name=value');
  return Object.fromEntries(tags.map(([, name, value]) => [name, value]));
}

function trackingOf(value: string | undefined): boolean | undefined {
  if (value === undefined) return undefined;
  const word = value.toLowerCase();
  if (word !== 'true' && word !== 'false') throw refused('track', 'must be true or false');
  return word === 'true';
}

function dataOf(value: string | undefined): SendBody['data'] {
  if (value === undefined) return undefined;
  try {
    const data: unknown = JSON.parse(value);
    if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data as SendBody['data'];
  } catch {
    // Answered below.
  }
  throw refused('data', 'must be a JSON object');
}

function refused(name: string, why: string): SmtpReply {
  const header = `X-Fernpost-${name.replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase())}`;
  return new SmtpReply(550, '5.5.4', `${header} ${why}`);
}
