import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Fernpost } from '@fernpost/sdk';
import { SandboxInbox } from '@fernpost/sdk/testing';

// What every script of this folder begins with. Each shows one capability as an app uses it, with the SDK as the service hands it out.
export const baseUrl = process.env.FERNPOST_URL ?? 'http://localhost:3000';
export const secretKey = process.env.SECRET_KEY ?? '';
export const fernpost = new Fernpost({ baseUrl, key: secretKey });
/** The inbox of everybody. */
export const inbox = new SandboxInbox(process.env.SANDBOX_URL);
/** The sender of a new installation. */
export const from = 'hello@fernpost.test';

/** An address that nobody has used. */
export const address = (name: string) => `${name}-${crypto.randomUUID().slice(0, 8)}@example.com`;

/** Asks again until the answer is as expected, for a minute. */
export async function until<Value>(ask: () => Promise<Value>, isExpected: (value: Value) => boolean): Promise<Value> {
  for (const end = Date.now() + 60_000; ; await new Promise((resolve) => setTimeout(resolve, 200))) {
    const value = await ask();
    if (isExpected(value)) return value;
    assert(Date.now() < end, `After a minute it is still ${JSON.stringify(value)}`);
  }
}

/** Every item of a list. */
export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** The one item that a list is expected to have. */
export function only<Item>(items: readonly Item[]): Item {
  assert.equal(items.length, 1);
  return items[0] as Item;
}

/** Signed in as the owner: the dashboard's requests about keys, whose addresses begin with those of the project. */
export async function signedIn(): Promise<(method: string, path: string, body?: object) => Promise<Response>> {
  const { login, projectId } = JSON.parse(readFileSync(process.env.FIRST_PROJECT ?? '', 'utf8'));
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  const answer = await fetch(`${baseUrl}/auth/login`, { method: 'POST', headers, body: JSON.stringify(login) });
  headers.cookie = answer.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  return (method, path, body) =>
    fetch(new URL(path.replace('{project}', projectId), baseUrl), {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
}

/** The keys of the project, for somebody who is signed in. */
export const keysPath = '/users/@me/projects/{project}/api-keys';
