import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type Answer, aProject, type TestApi, type TestProject, testApi } from './api.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { patientPool } from './program-env.ts';

/** A request that reads an `Idempotency-Key`: what it writes can be told by an address that nobody else uses. */
export interface KeyedKind {
  name: string;
  request(owner: TestProject, address: string): { key: string; path: string; body: Record<string, unknown> };
  /** Events or mails of the address, and places of mails in the queue. */
  written(database: TestDatabase, address: string): Promise<[number, number]>;
  expected: [number, number];
}

const eventsOf = async (database: TestDatabase, address: string): Promise<[number, number]> => {
  const row = await database.db.row<{ n: number }>(
    `select count(*)::int as n from events e join contacts c on c.id = e.contact_id where c.email = $1 and e.name = 'bought'`,
    [address],
  );
  return [row?.n ?? 0, 0];
};
/** Mails whose address begins like this, and how many of them are queued. */
export const mailsOf = async (database: TestDatabase, address: string): Promise<[number, number]> => {
  const row = await database.db.row<{ mails: number; queued: number }>(
    `select count(*)::int as mails, count(q.email_id)::int as queued
     from emails e left join email_queue q on q.email_id = e.id where starts_with(e.to_address, $1)`,
    [address],
  );
  return [row?.mails ?? 0, row?.queued ?? 0];
};
const mail = (owner: TestProject, to: unknown) => ({
  key: owner.secretKey,
  path: '/v1/send',
  body: { from: owner.sender, to, subject: 'Receipt', body: '<p>Thank you</p>' },
});
export const track: KeyedKind = {
  name: 'an event',
  request: ({ publicKey }, email) => ({ key: publicKey, path: '/v1/track', body: { email, event: 'bought' } }),
  written: eventsOf,
  expected: [1, 0],
};
export const one: KeyedKind = { name: 'a mail', request: mail, written: mailsOf, expected: [1, 1] };
export const three: KeyedKind = {
  name: 'mail to three, two of them the same',
  request: (owner, address) => mail(owner, [address, `${address}.de`, address]),
  written: mailsOf,
  expected: [3, 3],
};

export const aKey = () => `key-${randomUUID()}`;
export const anAddress = () => `a-${randomUUID()}@example.com`;

/** An API, its database and a project, to make requests with keys to it and to further processes on its database. */
export interface KeyedWorld extends AsyncDisposable {
  database: TestDatabase;
  api: TestApi;
  project: TestProject;
  /** Settings of another process on the same database. */
  settings: Record<string, string>;
  ask(
    url: string,
    kind: KeyedKind,
    address: string,
    idempotencyKey: string | null,
    owner?: TestProject,
  ): Promise<Answer>;
}

/** Starts the API on a database of its own. */
export async function keyedWorld(): Promise<KeyedWorld> {
  const database = await testDatabase();
  const api = await testApi(database);
  const project = await aProject(database);
  return {
    database,
    api,
    project,
    settings: {
      NODE_ENV: 'test',
      ...patientPool,
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      TEMPORAL_TASK_QUEUE: 'test-idempotency',
      RATE_LIMIT_PER_MINUTE: '0',
      UPLOAD_DIR: join(tmpdir(), 'fernpost-test-uploads'),
    },
    async ask(url, kind, address, idempotencyKey, owner = project) {
      const { key, path, body } = kind.request(owner, address);
      const headers: Record<string, string> = idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey };
      if (url === api.url) return api.call(key, 'POST', path, body, headers);
      const answer = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      return { status: answer.status, headers: answer.headers, body: await answer.json() };
    },
    async [Symbol.asyncDispose]() {
      await api.close();
      await database.close();
    },
  };
}
