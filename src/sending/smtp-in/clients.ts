import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Database } from '../../core/database/sql.ts';
import { isUuid } from '../../core/lib/ids.ts';
import type { KeyOwner } from '../../platform/projects/index.ts';
import { noteClient } from './client-queries.ts';

/** Whose client it is; see `SmtpClient`. */
export interface ClientOwner {
  projectId: string;
  credential: string;
}

/** Something that a client did: signed in, handed over a message, or got a reply that refuses. */
export type ClientNews = { kind: 'signed-in' | 'accepted' } | { kind: 'refused'; reply: string };

// A program that sends all the time is written down once in a while.
const everyMs = 30_000;
const longestRefusal = 300;

/** The owner that a key has. */
export function clientOfKey({ project, scoped }: Pick<KeyOwner, 'project' | 'scoped'>): ClientOwner {
  return { projectId: project.id, credential: scoped?.id ?? 'secret' };
}

/** The owner of a sign-in that failed, where its user name is a project; null for nobody that could be told. */
export function clientOfFailure(username: string): ClientOwner | null {
  const projectId = username.toLowerCase();
  return isUuid(projectId) ? { projectId, credential: 'unknown' } : null;
}

/** Notes the clients of projects, so that whoever sets one up sees what it did last. Nobody waits for it. */
export class ClientLog {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #noted = new LRUCache<string, string>({ max: 10_000, ttl: everyMs });
  readonly #underWay = new Set<Promise<void>>();

  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  /** Notes what a client did, unless the same was noted within half a minute. */
  note({ projectId, credential }: ClientOwner, ip: string, news: ClientNews): void {
    const refusal = news.kind === 'refused' ? withoutAddresses(news.reply) : null;
    const name = `${projectId} ${credential} ${ip} ${news.kind}`;
    const what = refusal ?? '';
    if (this.#noted.get(name) === what) return;
    this.#noted.set(name, what);
    const written = noteClient(this.#db, { projectId, credential, ip, isAccepted: news.kind === 'accepted', refusal })
      .catch((error: unknown) => this.#log.debug({ err: error }, 'a client of SMTP could not be noted'))
      .finally(() => this.#underWay.delete(written));
    this.#underWay.add(written);
  }

  /** Resolves when everything is written. */
  async drain(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}

// Recipients are somebody's data, which an erasure would have to find.
function withoutAddresses(reply: string): string {
  return reply.replaceAll(/[^\s"<>()]+@[^\s"<>(),:;]+/g, '…@…').slice(0, longestRefusal);
}
