import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type DestinationStream, pino } from 'pino';
import { inject } from 'vitest';
import { User } from '../../src/accounts/entity.ts';
import { Domain } from '../../src/domains/queries.ts';
import { type Config, readConfig } from '../../src/lib/config/config.ts';
import { type ApiOverrides, type RunningApi, startApi } from '../../src/main/api/api-runtime.ts';
import { newKeyPair } from '../../src/projects/directory.ts';
import { createProject } from '../../src/projects/service.ts';
import type { Store } from '../../src/store/orm.ts';
import { createMailSweep } from '../../src/store/outbox/wake.ts';
import type { TestDatabase } from './database.ts';
import { checkReply } from './reply-probe.ts';

/** A tenant of a test, with its keys and one verified sender domain. */
export interface TestProject {
  id: string;
  name: string;
  publicKey: string;
  secretKey: string;
  domain: string;
  sender: string;
}

/** An answer with its body parsed where it is JSON. */
export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test names what it expects of a body; the assertion is the check.
  body: any;
}

/** An API process of the test's own on a free port. */
export interface TestApi extends RunningApi {
  config: Config;
  /** Calls with a secret key (or another credential) and a JSON body. Fails when the answer is not what its route describes. */
  call(
    key: string | null,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

/** Starts the API on the test's database; settings that are not given are the defaults. */
export async function testApi(
  database: TestDatabase,
  settings: Record<string, string> = {},
  overrides: ApiOverrides & { logTo?: DestinationStream } = {},
): Promise<TestApi> {
  const config = readConfig({
    NODE_ENV: 'test',
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    TEMPORAL_TASK_QUEUE: `test-${randomBytes(4).toString('hex')}`,
    // The server that tests share is prepared once; schedules of each file would go on after it.
    TEMPORAL_SETUP: 'false',
    RATE_LIMIT_PER_MINUTE: '0',
    DATABASE_POOL_SIZE: '5',
    // On a loaded machine hundreds of requests at once may wait long for these few connections.
    DATABASE_POOL_TIMEOUT: '120',
    DATABASE_LOCK_TIMEOUT: '60',
    DATABASE_STATEMENT_TIMEOUT: '120',
    HEAVY_READ_TIMEOUT: '120',
    UPLOAD_DIR: join(tmpdir(), 'fernpost-test-uploads'),
    ...settings,
  });
  const lost = { wakes: false };
  const hearing = {
    write: (line: string) => {
      if (line.includes('a wake of the delivery was lost')) lost.wakes = true;
    },
  };
  const log =
    settings.LOG_LEVEL === undefined
      ? pino({ level: 'warn' }, hearing)
      : pino({ level: settings.LOG_LEVEL }, overrides.logTo ?? process.stdout);
  // Port 0 is no setting a deployment may have, but the right one for tests that run side by side.
  const running = await startApi(settings.PORT === undefined ? { ...config, PORT: 0 } : config, log, overrides);
  // A server of the test's own may be away because the test says so.
  const repeating = settings.TEMPORAL_ADDRESS === undefined ? repeatLostCalls(running, database, lost) : null;
  const close = async (lingerMs?: number) => {
    await repeating?.stop();
    await running.close(lingerMs);
  };
  return {
    ...running,
    close,
    [Symbol.asyncDispose]: () => close(),
    config,
    async call(key, method, path, body, headers = {}) {
      const answer = await fetch(`${running.url}${path}`, {
        method,
        headers: {
          ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await answer.text();
      const contentType = answer.headers.get('content-type');
      const parsed = contentType?.includes('json') ? JSON.parse(text) : text;
      checkReply(method, path, { status: answer.status, contentType, body: parsed });
      return { status: answer.status, headers: answer.headers, body: parsed };
    },
  };
}

/**
 * Does what the relay and the sweep of a worker process would do, which tests have none of, once a call of this API to Temporal has failed:
 * a busy server may leave one without an answer.
 */
function repeatLostCalls({ app }: RunningApi, { db }: TestDatabase, lost: { wakes: boolean }) {
  const sweep = createMailSweep({ db, waker: app.waker, clock: () => new Date() });
  const stopping = new AbortController();
  const repeat = async () => {
    const failed = await db.row('select from outbox where done_at is null and last_error is not null limit 1');
    if (failed !== null) await app.outbox.dispatchDue(100);
    if (lost.wakes) await sweep();
  };
  const ended = (async () => {
    while (!stopping.signal.aborted) {
      await pause(1000, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (!stopping.signal.aborted) await repeat().catch(() => undefined);
    }
  })();
  return {
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}

/** Creates a user, a project of theirs and a verified domain of its own. */
export async function aProject(store: Store, name = 'Acme', encryptionKey?: string): Promise<TestProject> {
  const keys = newKeyPair();
  const suffix = randomBytes(4).toString('hex');
  const domain = `acme-${suffix}.test`;
  const project = await store.db.transaction(async (tx) => {
    const { em } = tx;
    const user = em.create(User, { email: `owner-${suffix}@acme.test`, passwordHash: null, emailVerified: true });
    await em.flush();
    const created = await createProject(tx, {
      name,
      ownerId: user.id,
      trusted: true,
      keys,
      encryptionKey: encryptionKey ?? readConfig({}).APP_ENCRYPTION_KEY,
    });
    em.create(Domain, {
      projectId: created.id,
      domain,
      verified: true,
      status: 'Success',
      dkimTokens: [],
      records: [],
    });
    return created;
  });
  return { id: project.id, name, ...keys, domain, sender: `hello@${domain}` };
}
