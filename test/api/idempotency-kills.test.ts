import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aKey, anAddress, type KeyedWorld, keyedWorld, three, track } from '../support/idempotent-requests.ts';
import { type MortalApi, mortalApi } from '../support/mortal-api.ts';

let world: KeyedWorld;

beforeAll(async () => {
  world = await keyedWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

describe('a process that is killed', () => {
  test.each([track, three])(
    'between any two steps of $name: the repetition finds it done or does it',
    { timeout: 300_000 },
    async (kind) => {
      // The next process starts while this one is being killed.
      let next = mortalApi(world.settings);
      const outcomes: string[] = [];
      for (let moment = 0; ; moment++) {
        await using child: MortalApi = await next;
        next = mortalApi(world.settings);
        // What a process asks once, such as whose a key is, is in its memory then.
        expect((await world.ask(child.url, kind, anAddress(), aKey())).status).toBe(200);
        const address = anAddress();
        const key = aKey();
        await child.arm(moment);
        const answer = await world.ask(child.url, kind, address, key).catch(() => null);
        if (answer !== null) {
          expect(answer.status).toBe(200);
          await (await next)[Symbol.asyncDispose]();
          break;
        }
        await child.ended;
        const again = await world.ask(world.api.url, kind, address, key);
        if (again.status === 409) expect(again.body.error.details.originalStatusCode).toBe(200);
        else expect(again.status).toBe(200);
        expect(await kind.written(world.database, address), `killed at ${moment}, then ${again.status}`).toEqual(
          kind.expected,
        );
        outcomes.push(String(again.status));
        const third = await world.ask(world.api.url, kind, address, key);
        expect(third.status).toBe(409);
      }
      // begin, the key, the work, commit: two moments each.
      expect(outcomes.length).toBeGreaterThanOrEqual(8);
      expect(outcomes[0]).toBe('200');
      expect(outcomes.at(-1)).toBe('409');
    },
  );
});
