import { expect, test } from 'vitest';
import { methods } from '../generate/methods.ts';
import { snake } from '../generate/python-types.ts';
import { Fernpost, operationTable } from '../src/index.ts';

// Of the client, the ways to reach any operation.
const general = new Set(['call', 'list', 'all']);

/** Method and path of the last request that a call of the SDK makes, with `*` for each parameter of the path. */
async function requestOf(call: (client: Fernpost) => unknown): Promise<string> {
  let request = '';
  const client = new Fernpost({
    baseUrl: 'https://mail.test',
    key: 'sk_1',
    retries: 0,
    fetch: (url, init) => {
      request = `${init?.method} ${String(url instanceof URL ? url.pathname : url).replaceAll(/(A\d|the-project)/g, '*')}`;
      const done = { state: 'completed', status: 'COMPLETED', data: { state: 'DONE', n: 'A2' } };
      return Promise.resolve(Response.json(request.endsWith('/projects') ? [{ id: 'the-project' }] : done));
    },
  });
  const result = call(client) as (Promise<unknown> & AsyncIterable<unknown>) | undefined;
  // The response has no form that a method expects; only the request counts.
  await Promise.resolve(result).catch(() => undefined);
  if (request === '' && result?.[Symbol.asyncIterator] !== undefined)
    await result[Symbol.asyncIterator]()
      .next()
      .catch(() => undefined);
  return request;
}

/** The methods of the SDK as Python names them, each with its request. */
async function methodsOfSdk(): Promise<Map<string, string>> {
  const client = new Fernpost({ baseUrl: 'https://mail.test', key: 'sk_1' });
  const found = new Map<string, string>();
  const note = async (owner: object, prefix: string, place: (one: Fernpost) => object) => {
    for (const name of namesOf(owner)) {
      if (name === 'constructor' || (prefix === '' && general.has(name))) continue;
      const own = name === 'import' ? 'import_' : snake(name);
      const call = (one: Fernpost) =>
        (place(one) as Record<string, (...given: string[]) => unknown>)[name]?.('A1', 'A2', 'A3');
      found.set(`${prefix}${own}`, await requestOf(call));
    }
  };
  await note(client, '', (one) => one);
  for (const [name, owner] of Object.entries(client))
    await note(owner, `${snake(name)}.`, (one) => (one as unknown as Record<string, object>)[name] ?? {});
  return found;
}

function namesOf(owner: object): string[] {
  const prototype = Object.getPrototypeOf(owner);
  const all = prototype === Object.prototype ? Object.keys(owner) : Object.getOwnPropertyNames(prototype);
  return all.filter((name) => typeof (owner as Record<string, unknown>)[name] === 'function');
}

test('Python has the methods of the SDK, which call the same operations', async () => {
  const python = Object.entries(methods).flatMap(([resource, own]) =>
    Object.entries(own).map(([name, { operation }]) => {
      const [method, path] = operationTable[operation as keyof typeof operationTable];
      return [resource === '' ? name : `${resource}.${name}`, `${method} ${path.replaceAll(/\{\w+\}/g, '*')}`] as const;
    }),
  );
  const sdk = await methodsOfSdk();
  expect(Object.fromEntries(sdk)).toEqual(Object.fromEntries(python));
});
