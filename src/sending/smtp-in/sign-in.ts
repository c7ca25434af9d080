import { smtpUser } from '@fernpost/earlier-name';
import { SmtpReply } from '@fernpost/smtp-submission';
import { LRUCache } from 'lru-cache';
import type { Config } from '../../core/config/config.ts';
import type { Database } from '../../core/database/sql.ts';
import { AppError } from '../../core/lib/errors.ts';
import { networkOf } from '../../core/lib/network.ts';
import { sha256 } from '../../core/lib/seal.ts';
import { giveBackAttempt, takeAttempt } from '../../platform/accounts/index.ts';
import type { KeyOwner, ProjectDirectory } from '../../platform/projects/index.ts';

/** What signing in needs. */
export interface SignInDeps {
  db: Database;
  directory: Pick<ProjectDirectory, 'byKey' | 'noteUse'>;
  config: Pick<Config, 'LOGIN_RATE_LIMIT_PER_IP' | 'LOGIN_RATE_LIMIT_WINDOW'>;
}

const users: ReadonlySet<string> = new Set(['fernpost', smtpUser]);

const refused = () =>
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
      throw refused();
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
