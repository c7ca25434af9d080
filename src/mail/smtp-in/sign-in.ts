import { smtpUser } from '@fernpost/earlier-name';
import { LRUCache } from 'lru-cache';
import { giveBackAttempt, takeAttempt } from '../../accounts/queries.ts';
import type { Config } from '../../lib/config/config.ts';
import { AppError } from '../../lib/errors.ts';
import { networkOf } from '../../lib/network.ts';
import { sha256 } from '../../lib/seal.ts';
import type { KeyOwner, ProjectDirectory } from '../../projects/directory.ts';
import type { Database } from '../../store/sql.ts';
import type { IncomingMessage } from '../smtp/message.ts';
import { SmtpReply } from '../smtp/waiting-room.ts';
import type { SendBody } from '../transactional/schema.ts';

/** Options of a message, from its headers `X-Fernpost-…`. */
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
    if (!known.has(name) && !ownMarks.has(name)) throw refusedDirective(name, 'is not a header of Fernpost');
  const only = (name: string): string | undefined => {
    const values = directives.get(name) ?? [];
    if (values.length > 1) throw refusedDirective(name, 'stands in the message more than once');
    return values[0];
  };
  const type = (only('type') ?? 'TRANSACTIONAL').toUpperCase();
  if (type !== 'TRANSACTIONAL' && type !== 'MARKETING')
    throw refusedDirective('type', 'must be TRANSACTIONAL or MARKETING');
  const idempotencyKey = only('idempotency-key') ?? null;
  if (idempotencyKey !== null && !/^[\x20-\x7e]{1,255}$/.test(idempotencyKey))
    throw refusedDirective('idempotency-key', 'must have 1 to 255 printable ASCII characters');
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
  if (tags.some(({ length }) => length === 0)) throw refusedDirective('tag', 'must be name=value');
  return Object.fromEntries(tags.map(([, name, value]) => [name, value]));
}

function trackingOf(value: string | undefined): boolean | undefined {
  if (value === undefined) return undefined;
  const word = value.toLowerCase();
  if (word !== 'true' && word !== 'false') throw refusedDirective('track', 'must be true or false');
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
  throw refusedDirective('data', 'must be a JSON object');
}

function refusedDirective(name: string, why: string): SmtpReply {
  const header = `X-Fernpost-${name.replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase())}`;
  return new SmtpReply(550, '5.5.4', `${header} ${why}`);
}

/** Dependencies of signing in. */
export interface SignInDeps {
  db: Database;
  directory: Pick<ProjectDirectory, 'byKey' | 'noteUse'>;
  config: Pick<Config, 'LOGIN_RATE_LIMIT_PER_IP' | 'LOGIN_RATE_LIMIT_WINDOW'>;
}

const users: ReadonlySet<string> = new Set(['fernpost', smtpUser]);

const refusedSignIn = () =>
  new SmtpReply(
    535,
    '5.7.8',
    'Sign in as "fernpost" with a secret key, or one with the scope emails:send, as the password',
  );

/** Signs clients in by `AUTH PLAIN` and `LOGIN`: user `fernpost` or the project's id, password a secret key. */
export class SignIn {
  readonly #deps: SignInDeps;
  // Most clients sign in once for each mail. A key that was right for a network is no guess there, and costs no writes.
  readonly #proven = new LRUCache<string, true>({ max: 10_000 });

  constructor(deps: SignInDeps) {
    this.#deps = deps;
  }

  /**
   * Checks credentials and answers whose they are. Failures count for the network, in windows like those of sign-ins to the dashboard.
   * @throws SmtpReply 535, 454 when the network has failed too often, also for a right key that was not used from there before
   */
  async check(username: string, password: string, ip: string): Promise<KeyOwner> {
    const network = networkOf(ip);
    const known = `${network} ${sha256(password).toString('base64')}`;
    if (!this.#proven.has(known)) await this.#count(network);
    const owner = await this.find(username, password);
    if (owner === null) {
      if (this.#proven.delete(known)) await this.#count(network);
      throw refusedSignIn();
    }
    if (!this.#proven.has(known) && this.#limit > 0) await giveBackAttempt(this.#deps.db, 'smtp-ip', network);
    this.#proven.set(known, true);
    if (owner.scoped !== null) await this.#deps.directory.noteUse(owner.scoped, new Date());
    return owner;
  }

  /** The owner of a key that may send, or null. Asked again for each message: a key may end meanwhile. */
  async find(username: string, password: string): Promise<KeyOwner | null> {
    const owner = await this.#deps.directory.byKey(password);
    if (owner === null || owner.kind === 'public') return null;
    const { scoped, project } = owner;
    const hasEnded = scoped?.until != null && scoped.until <= new Date();
    if (hasEnded || (scoped !== null && !scoped.scopes.includes('emails:send'))) return null;
    return users.has(username) || username.toLowerCase() === project.id ? owner : null;
  }

  get #limit(): number {
    return this.#deps.config.LOGIN_RATE_LIMIT_PER_IP;
  }

  async #count(network: string): Promise<void> {
    if (this.#limit === 0) return;
    const seconds = this.#deps.config.LOGIN_RATE_LIMIT_WINDOW;
    const attempt = { scope: 'smtp-ip' as const, subject: network, limit: this.#limit, seconds };
    try {
      await takeAttempt(this.#deps.db, attempt, 'Too many failed attempts to sign in');
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new SmtpReply(454, '4.7.0', `${error.message}. ${error.extra.suggestion ?? ''}`);
    }
  }
}
